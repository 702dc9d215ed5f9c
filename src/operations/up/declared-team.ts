import { TeamError } from "../../errors.ts";
import type { BudgetLimits } from "../../schema/budget.ts";
import type { PermissionMode, SandboxMode } from "../../schema/permission-modes.ts";
import { joinedLines } from "../../text/line-ends.ts";
import { stripControls } from "../../text/terminal-text.ts";

/** A field of a team file, for a message about it. */
export interface FieldPlace {
  /** The file as the user named it. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** `members[0].cwd`; empty for the whole file. */
  readonly field: string;
}

export interface FieldProblem extends FieldPlace {
  /** The rest of a sentence that begins with the field. */
  readonly message: string;
}

/** Returns the place of a field of a member or task; without a name, that of the member or task itself. */
export type PlaceOf = (field?: string) => FieldPlace;

/** A member as a team file declares it. Its paths are absolute. */
export interface DeclaredMember {
  readonly name: string;
  readonly prompt: string;
  readonly agentType?: string;
  readonly model?: string;
  readonly cli?: string;
  readonly effort?: string;
  readonly plan?: boolean;
  readonly permissionMode?: PermissionMode;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly writes?: readonly string[];
  readonly sandbox?: SandboxMode;
  readonly budget: BudgetLimits;
  readonly cwd: string;
  /** True for a worktree on its own branch, or the name of the branch. */
  readonly worktree?: boolean | string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly at: PlaceOf;
}

export interface DeclaredTask {
  /** Identifies the task in the team. */
  readonly subject: string;
  readonly description?: string;
  readonly owner?: string;
  /** Subjects of other declared tasks. */
  readonly blockedBy: readonly string[];
  readonly verify?: string;
  readonly reviewer?: string;
  readonly touches?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly at: PlaceOf;
}

export interface DeclaredLead {
  readonly goal?: string;
  readonly model?: string;
  readonly cli?: string;
  readonly delegate?: boolean;
  readonly at: PlaceOf;
}

/** A team as a file declares it, with the files that it includes. */
export interface DeclaredTeam {
  /** The file as the user named it. */
  readonly file: string;
  /** The directory of the file; members that name no other directory work there. */
  readonly directory: string;
  readonly name: string;
  readonly description?: string;
  readonly model?: string;
  readonly permissionMode?: PermissionMode;
  /** The limits for all members together. */
  readonly budget: BudgetLimits;
  readonly members: readonly DeclaredMember[];
  /** Blockers come before the tasks that wait for them. */
  readonly tasks: readonly DeclaredTask[];
  readonly lead?: DeclaredLead;
  /** Returns the place of a field of the team itself. */
  readonly at: (field: string) => FieldPlace;
}

/** How many problems a message lists. */
const MAX_LISTED = 30;

/** Makes the error for a team file with problems, which are listed by file and line. */
export function teamFileError(file: string, problems: readonly FieldProblem[]): TeamError {
  const sorted = problems.toSorted((a, b) => (a.file === b.file ? a.line - b.line : 0));
  const lines = sorted.slice(0, MAX_LISTED).map(problemLine);
  const more = sorted.length > MAX_LISTED ? [`and ${sorted.length - MAX_LISTED} more`] : [];
  const message =
    sorted.length === 1
      ? `${lines[0]}; nothing was done.`
      : `${[`${file} has ${sorted.length} problems:`, ...lines, ...more].join("\n  ")}\nNothing was done.`;
  return new TeamError("INVALID_INPUT", message, {
    hint: "Correct the file. teams up --schema prints its format; docs/team-files.md describes it.",
    details: { problems: sorted },
  });
}

function problemLine({ file, line, field, message }: FieldProblem): string {
  const text = `${file}:${line}: ${field === "" ? "" : `${field}: `}${message}`;
  // A name or a value of the file must not begin a new line.
  return joinedLines(stripControls(text), " ");
}
