import type { FileDiff } from "../git/diff.ts";
import type { ApprovalDetails } from "../operations/approvals/approvals.ts";
import type { AgentDiff } from "../operations/landing/read-diffs.ts";
import type { Bell } from "../wakeup/bell.ts";
import type { MessageLine } from "./data.ts";

/** The source of a view's document, which is read when the view opens. */
export type Source =
  | { readonly kind: "request"; readonly id: string; readonly from: string }
  | { readonly kind: "diff" | "messages" | "log"; readonly member: string }
  | { readonly kind: "task"; readonly id: string }
  | { readonly kind: "teams" | "help" };

export type Content =
  | { readonly kind: "request"; readonly request: RequestDetails }
  | { readonly kind: "diff"; readonly diff: MemberDiff }
  | { readonly kind: "task"; readonly task: TaskDetails }
  /** The messages from and to a member; `own` is the name that the user writes as. */
  | { readonly kind: "messages"; readonly messages: readonly MessageLine[]; readonly own: string }
  /** Rows with the styles of `styled`, as the member's pane shows them in the requested width. */
  | { readonly kind: "log"; readonly rows: readonly string[] }
  | { readonly kind: "teams"; readonly teams: readonly TeamLine[] }
  | { readonly kind: "help" };

export type RequestDetails = Omit<ApprovalDetails, "at" | "partial">;

export interface MemberDiff extends Pick<AgentDiff, "sharedWith" | "directory" | "base" | "patch"> {
  readonly files: readonly FileDiff[];
}

export interface TaskDetails {
  readonly subject: string;
  /** Its state, owner, dependencies and proof, one in a line. */
  readonly facts: readonly string[];
  readonly description: string;
}

/** A team that the sidebar can show instead. */
export interface TeamLine {
  readonly team: string;
  readonly displayName: string;
  readonly members: number;
  readonly waiting: number;
  readonly isShown: boolean;
  /** Why its files cannot be read. */
  readonly problem?: string;
}

/** An open document, which can change. */
export interface OpenDocument {
  /** @param width columns for rows that the reader does not wrap */
  read(width: number): Content | Promise<Content>;
  /** When to read it again: after each read of the team's data, when its own bell rings, or only if the width changes. */
  readonly renews: "with-data" | Bell | "never";
  close(): void;
}

/** A line of a diff that a comment can be about. */
export interface DiffPlace {
  readonly path: string;
  readonly line: number;
  /** A removed line is in the file only before the change. */
  readonly side: "before" | "after";
  readonly quote: string;
}

export interface LineComment extends DiffPlace {
  readonly text: string;
}

/** The state of a view that shows a document. */
export interface Reader {
  readonly source: Source;
  /** Undefined while it is read. */
  readonly content?: Content;
  /** The first row on the screen; `end` keeps the end on the screen. */
  readonly top: number | "end";
  /** The selected row, in a view that has one. */
  readonly cursor: number;
  readonly search?: string;
  /** How many rows of a request were on the screen, from the first one without a gap, at this width. */
  readonly read?: { readonly width: number; readonly rows: number };
  /** The view to go back to. */
  readonly back: "team" | "tasks" | "graph";
}
