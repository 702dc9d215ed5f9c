import type { PermissionMode } from "../../schema/permission-modes.ts";
import type { Task } from "../../schema/task.ts";

/** A tool call as it starts. */
export interface StartedCall {
  /** Unique in its session. */
  readonly id: string;
  readonly member: string;
  readonly tool: string;
  readonly summary: string;
  /** The path at the start of the summary. */
  readonly path?: string | undefined;
  /** Undefined if it is not known. */
  readonly input?: unknown;
}

/** A fact that a session shows its client, independent of the version of the protocol. Texts are not cleaned yet. */
export type SessionFact =
  /** A piece of the lead's answer; all pieces of one answer have one id. */
  | { readonly kind: "text"; readonly text: string; readonly message: string }
  | { readonly kind: "thought"; readonly text: string }
  /** A line of the user, in a replay. */
  | { readonly kind: "prompt"; readonly text: string }
  | ({ readonly kind: "call" } & StartedCall)
  /** A running call has printed something: the end of its output so far. */
  | { readonly kind: "output"; readonly id: string; readonly tail: string }
  | {
      readonly kind: "result";
      readonly id: string;
      readonly content: string;
      readonly isError: boolean;
      /** Whether the call changed a file as its input says. */
      readonly isChange: boolean;
    }
  | { readonly kind: "tasks"; readonly tasks: readonly Task[] }
  | { readonly kind: "mode"; readonly mode: PermissionMode }
  | {
      readonly kind: "usage";
      /** Tokens in the lead's conversation (`used`), and in its model's window (`size`). */
      readonly used: number;
      readonly size: number;
      /** Of the whole team, in US dollars. */
      readonly costUsd: number;
    }
  | { readonly kind: "title"; readonly title: string }
  | { readonly kind: "notice"; readonly severity: "info" | "warning" | "error"; readonly text: string };

export type ShowFact = (fact: SessionFact) => void;
