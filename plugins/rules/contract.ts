/** What an adapter declares so that accepted lines reach its assistant. */
export interface InstructionsContract {
  /** The file in a project's folder that the assistant reads at the start of a session, where it is not AGENTS.md. */
  file: string;
  /** It reads AGENTS.md where that file is not there. */
  orCommon?: boolean;
}
