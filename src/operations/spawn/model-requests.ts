import { resolve } from "node:path";
import { SCRIPTED } from "../../agent/model/model-names.ts";
import { decidePermission } from "../../agent/permissions/decide.ts";
import { isInside } from "../../agent/permissions/protected-paths.ts";
import type { PermissionRules } from "../../agent/permissions/rules.ts";
import { DEFAULT_AGENT_TYPE } from "../../agent/prompts/agent-types.ts";
import { TeamError } from "../../errors.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";

/** The parts of a spawn that a model may not request freely. */
interface Requested {
  readonly name: string;
  readonly worktree?: object | undefined;
  /** The mode of the lead whose model requests it; undefined for a person. */
  readonly maxMode?: PermissionMode | undefined;
}

/**
 * Refuses a worktree that a model may not have. A checkout runs filters that the repository's config names, and creates a branch.
 * @throws TeamError PERMISSION_DENIED in plan mode, and in an untrusted directory unless everything is allowed
 */
export function requireWorktreeRights(
  { name, worktree, maxMode }: Requested,
  cwd: string,
  isTrusted: ((directory: string) => boolean) | undefined,
): void {
  if (worktree === undefined || maxMode === undefined || maxMode === "bypassPermissions") return;
  if (maxMode === "plan") {
    throw new TeamError(
      "PERMISSION_DENIED",
      `In plan mode no worktree is created; ${name} was not started.`,
      {
        hint: "Get your plan approved first, or start it without a worktree.",
      },
    );
  }
  if (isTrusted?.(cwd)) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `${cwd} is not trusted, and git runs programs that its repository names; ${name} was not started.`,
    {
      hint: "Start it without a worktree, or ask the user to trust the directory.",
    },
  );
}

/** Returns whether rules and mode let a model start a third-party CLI without asking. */
export function mayModelStart(
  cli: string,
  { agentType: what = DEFAULT_AGENT_TYPE, maxMode: mode = "default" }: CliRequest,
  rules: PermissionRules,
): boolean {
  const access = { kind: "team", what, cli } as const;
  return decidePermission({ mode, tool: "Agent", access, rules, workingDirs: ["/"] }).behavior === "allow";
}

interface CliRequest extends Requested {
  readonly agentType?: string | undefined;
}

/**
 * Refuses a third-party CLI that a model may not start: our rules see only what such a program asks for, so it may read what
 * the model may not.
 * @param mayStart whether rules, a mode or a person allow it
 * @throws TeamError PERMISSION_DENIED
 */
export function requireCliRights<T extends Requested>(
  cli: string,
  input: T,
  mayStart: ((cli: string, input: T) => boolean) | undefined,
): void {
  if (input.maxMode === undefined || mayStart?.(cli, input)) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `No rule lets a model start ${cli}; ${input.name} was not started.`,
    {
      hint: `Ask the user to start it, or to allow it by the rule Agent(cli:${cli}).`,
    },
  );
}

/**
 * Refuses a playbook that a model names outside its project: the errors of a playbook quote the file.
 * @param own the model of the requesting agent, which it may name
 * @throws TeamError PERMISSION_DENIED
 */
export function requireProjectPlaybook(
  model: string | undefined,
  own: string | undefined,
  cwd: string,
): void {
  const prefix = `${SCRIPTED}:`;
  if (!model?.startsWith(prefix) || model === own) return;
  const file = resolve(cwd, model.slice(prefix.length));
  if (isInside(realPathOf(file), realPathOf(cwd))) return;
  throw new TeamError("PERMISSION_DENIED", `The playbook ${file} is outside ${cwd}; nothing was started.`, {
    hint: "Name a playbook of the project, or ask the user to start the teammate.",
  });
}
