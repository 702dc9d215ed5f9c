import type { AgentTypes } from "../agent/prompts/agent-types.ts";
import { TeamError } from "../errors.ts";
import type { Backends, OperationContext } from "../operations/context.ts";
import { systemClock } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { LEAD_NAME, sameName } from "../schema/names.ts";
import type { LoadedSettings } from "../settings/settings.ts";
import type { AnyCall } from "../terminal/call.ts";
import type { BackendsOptions } from "./backends.ts";
import { agentIdentity, type OpenTeam, openTeam, type Selection } from "./select-team.ts";

/**
 * What an operation acts with, for a command that looks at or touches where teammates live.
 * @param options what a process that stays, and has agents of its own, adds to the places
 */
export async function operationContext(
  call: AnyCall,
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
    backends: openBackends(env, { minPane: settings?.teams.minPane, ...options }),
  };
}

/** As {@link operationContext} for what the files alone tell: nothing is forked, and no place can be looked at. */
export function filesContext(call: AnyCall, { home, ref, actor }: OpenTeam): OperationContext {
  const { env, cwd, program } = call.io;
  const callerPane = env.TMUX && env.TMUX_PANE ? { callerPane: env.TMUX_PANE } : {};
  const agentTypes = async (directory: string): Promise<AgentTypes> => {
    const { agentTypesIn } = await import("./agent/load-agent-types.ts");
    return agentTypesIn(home.root, directory);
  };
  const own = { env, clock: systemClock, cwd, backends: NO_BACKENDS, agentTypes, program, ...callerPane };
  return { home, ref, actor, ...own };
}

const NO_BACKENDS: Backends = {
  choose: () => Promise.reject(new Error("A command that only reads files cannot start anybody.")),
  of: () => undefined,
};

/** @throws TeamError NESTED_TEAM in the shell of a teammate: teams do not nest (protocol.md section 6) */
export function refuseNesting({ io }: AnyCall, act: string): void {
  const own = agentIdentity(io.env);
  if (own === undefined || sameName(own.name, LEAD_NAME)) return;
  throw new TeamError("NESTED_TEAM", `${own.name} is a teammate and cannot ${act}. Nothing was done.`, {
    hint: "Ask the lead for it.",
  });
}

/**
 * As {@link refuseNesting}, for what makes a team: the shell of a lead that is a process makes no second one, in which its
 * model could have rights that it was not given (protocol.md section 2).
 * @throws TeamError NESTED_TEAM, ALREADY_LEADING
 */
export function refuseSecondTeam(call: AnyCall, act: string): void {
  refuseNesting(call, act);
  const own = agentIdentity(call.io.env);
  if (own === undefined) return;
  const led = own.team === undefined ? "its team" : `the team ${own.team}`;
  throw new TeamError(
    "ALREADY_LEADING",
    `This shell belongs to the lead of ${led}, and cannot ${act}. Nothing was done.`,
    { hint: "One team at a time: use the one that you lead." },
  );
}

/**
 * The team that a command about a whole team names, by its argument or by `--team`, to be changed.
 * @throws TeamError PERMISSION_DENIED where it is another program's; as {@link openTeam}
 */
export function openOwnTeam(
  env: Env,
  options: Selection & { readonly force: boolean },
  argument: string | undefined,
): OpenTeam {
  const name = argument ?? options.team;
  const open = openTeam(env, { ...options, team: name });
  requireOurs(open, { named: name !== undefined, force: options.force });
  return open;
}

/**
 * A team that another program made is changed only when its name was typed and `--force` given (S76).
 * @throws TeamError PERMISSION_DENIED
 */
export function requireOurs(
  { ref, config }: OpenTeam,
  given: { readonly named: boolean; readonly force: boolean },
): void {
  if (config.schemaVersion !== undefined || (given.named && given.force)) return;
  throw new TeamError("PERMISSION_DENIED", `${ref.team} was made by another program; nothing was changed.`, {
    hint: `To end it anyway, type its name and --force.`,
  });
}
