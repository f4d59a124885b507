/** Short names of what the API answers, taken from its routes. */
import type { Answer } from "./client.ts";

export type SessionDetail = Answer<"GET /sessions/:id">;
export type Session = SessionDetail["session"];
export type EarlierText = SessionDetail["earlier"][number];
export type Project = Answer<"GET /projects">[number];
export type Message = Answer<"GET /sessions/:id/messages">["messages"][number];
export type SearchAnswer = Answer<"GET /search">;
export type Insights = Answer<"GET /insights">;
export type Analytics = Answer<"GET /projects/:id">;
export type EditState = Answer<"GET /sessions/:id/edits">["edits"][number];
export type CausalityAnswer = Answer<"GET /sessions/:id/causality">;
export type Outline = Answer<"GET /sessions/:id/outline">;
