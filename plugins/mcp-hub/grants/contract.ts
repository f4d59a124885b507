/** Signing in, as the hub offers it. */
import type { ServiceEntry } from "../entry.ts";

interface Answer {
  state: string;
  code?: string | undefined;
  iss?: string | undefined;
  error?: string | undefined;
}

export interface SignIn {
  /** Where the person has to go. Throws SIGN_IN_UNAVAILABLE, SIGN_IN_FAILED. */
  begin(service: string): Promise<{ url: string }>;
  /** The person is back. Answers the service; throws SIGN_IN_FAILED for an answer to nothing we asked. */
  finish(answer: Answer): Promise<ServiceEntry>;
}
