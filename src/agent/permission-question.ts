import type { PermissionMode } from "../schema/permission-modes.ts";
import type { PermissionRules, RuleSubject } from "./permission-rules.ts";
import type { ShellLine } from "./shell-line.ts";
import type { ToolAccess } from "./tools/tool.ts";

export interface PermissionQuestion {
  readonly mode: PermissionMode;
  readonly tool: string;
  /** Whose it is, of a server's tool. */
  readonly served?: RuleSubject["served"];
  /** Paths are absolute. */
  readonly access: ToolAccess;
  /** The command of the access, read: without it only a rule without a pattern allows one. */
  readonly line?: ShellLine | undefined;
  readonly rules: PermissionRules;
  /** The first is where relative patterns start. */
  readonly workingDirs: readonly string[];
  /** Directories that may be read besides: what the agent's own commands printed, the user's skills. */
  readonly readDirs?: readonly string[] | undefined;
  /** The one file that may be written in plan mode. */
  readonly planFile?: string | undefined;
  /** Directories whose files nothing but a person lets change: the root. */
  readonly protectedDirs?: readonly string[] | undefined;
  /** The directory of its own notes, with every link resolved as it was found: a link that comes later leads out of it. */
  readonly notes?: string | undefined;
  readonly home?: string | undefined;
  /** Whether this agent only coordinates in delegate mode (the lead does, a teammate asks). */
  readonly coordinator?: boolean | undefined;
  /** Resolves the links of a path. */
  readonly resolve?: (path: string) => string;
}

export interface PermissionDecision {
  readonly behavior: "allow" | "deny" | "ask";
  /** It asks on account of a rule, or of what it would change: only a person's yes to this very call counts, and no hook's. */
  readonly guarded?: true;
  /** One sentence for the person or model that reads it. */
  readonly reason: string;
}
