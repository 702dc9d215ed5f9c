import type { AgentTypes } from "../agent/prompts/agent-types.ts";
import { TeamError } from "../errors.ts";
import type { Backends, OperationContext } from "../operations/context.ts";
import { systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { LEAD_NAME, sameName } from "../schema/names.ts";
import type { LoadedSettings } from "../settings/settings.ts";
import { tmuxCaller } from "../tmux/caller.ts";
import type { BackendsOptions } from "./backends.ts";
import type { Caller } from "./caller.ts";
import { agentIdentity, namedTeam, type OpenTeam, openTeam, type Selection } from "./select-team.ts";

/**
 * Returns the context of a command that reads or changes where teammates run.
 * @param options for a lead's or teammate's process: its in-process backend and bells
 */
export async function operationContext(
  call: Caller,
  open: OpenTeam,
  settings?: LoadedSettings,
  options: BackendsOptions = {},
): Promise<OperationContext> {
  const { io } = call;
  const { openBackends } = await import("./backends.ts");
  const env = settings === undefined ? io.env : { ...io.env, ...settings.env };
  return {
    ...filesContext(call, open),
    env,
    nodeOptions: io.env.NODE_OPTIONS,
    backends: openBackends(env, { minPane: settings?.teams.minPane, ...options }),
  };
}

/** Like {@link operationContext} for a command that needs only files: it has no backends and loads less. */
export function filesContext(call: Caller, { home, ref, actor }: OpenTeam): OperationContext {
  const { env, cwd, program } = call.io;
  const { pane, session, serverPid } = tmuxCaller(env) ?? {};
  const position = { callerPane: pane, callerSession: session, callerServer: serverPid };
  const agentTypes = async (directory: string): Promise<AgentTypes> => {
    const { agentTypesIn } = await import("./agent/load-agent-types.ts");
    return agentTypesIn(home.root, directory);
  };
  const own = { env, clock: systemClock, cwd, backends: NO_BACKENDS, agentTypes, program, ...position };
  return { home, ref, actor, ...own };
}

/** For a context that reads only files: no place of a member is known to exist or to be gone. */
export const NO_BACKENDS: Backends = {
  choose: () => Promise.reject(new Error("A command without backends cannot start a member.")),
  of: () => undefined,
};

/** @throws TeamError NESTED_TEAM in the shell of a teammate: teams do not nest (protocol.md section 6) */
export function refuseNesting({ io }: Caller, act: string): void {
  const own = agentIdentity(io.env);
  if (own === undefined || sameName(own.name, LEAD_NAME)) return;
  throw new TeamError("NESTED_TEAM", `${own.name} is a teammate and cannot ${act}. Nothing was done.`, {
    hint: "Ask the lead to do it.",
  });
}

/**
 * Like {@link refuseNesting}, for a command that creates a team: the shell of a running lead must not create a second team,
 * in which its model could have more permissions than it was given (protocol.md section 2).
 * @throws TeamError NESTED_TEAM, ALREADY_LEADING
 */
export function refuseSecondTeam(call: Caller, act: string): void {
  refuseNesting(call, act);
  const own = agentIdentity(call.io.env);
  if (own === undefined) return;
  const currentTeam = own.team === undefined ? "its team" : `the team ${own.team}`;
  throw new TeamError(
    "ALREADY_LEADING",
    `This shell belongs to the lead of ${currentTeam} and cannot ${act}. Nothing was done.`,
    { hint: "Use the team that you lead: a lead has one team at a time." },
  );
}

/**
 * Opens the team that a command changes as a whole, named by its argument or by `--team`.
 * @throws TeamError PERMISSION_DENIED if another program has created it; as {@link openTeam}
 */
export function openOwnTeam(
  env: Env,
  options: Selection & { readonly force: boolean },
  argument: string | undefined,
): OpenTeam {
  const name = namedTeam(env, options, argument);
  const open = openTeam(env, { ...options, team: name });
  refuseForeignTeam(open, { named: name !== undefined, force: options.force });
  return open;
}

/**
 * Refuses to change a team that another program has created, unless the user typed its name and `--force` (S76).
 * @throws TeamError PERMISSION_DENIED
 */
export function refuseForeignTeam(
  { ref, config }: OpenTeam,
  consent: { readonly named: boolean; readonly force: boolean },
): void {
  if (config.schemaVersion !== undefined || (consent.named && consent.force)) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `${ref.team} was created by another program; nothing was changed.`,
    {
      hint: "To change it anyway, name it and add --force.",
    },
  );
}
