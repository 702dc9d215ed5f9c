import { type HookOptions, Hooks } from "../../agent/hooks/hooks.ts";
import type { SessionVariables } from "../../agent/hooks/session-variables.ts";
import type { HookEvent, HooksSetting } from "../../agent/hooks/settings.ts";
import { recordTaskHooks } from "../../operations/task-gate.ts";
import type { Env } from "../../os/env.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import { currentEventSubject } from "../../team/members/members.ts";
import { IdleHook } from "../../worker/gates/idle-hook.ts";
import { isOwnHook } from "./agent-sandbox.ts";
import type { SharedParts } from "./subagents.ts";

interface HookParts extends Pick<SharedParts, "ctx" | "worker" | "sessionId" | "settings" | "sandbox"> {
  readonly role: "teammate" | "lead";
  readonly agentType: string;
  readonly variables?: SessionVariables;
}

/** Creates the hooks of the settings, and the worker's idle hook with them. */
export function agentHooks(
  { ctx, worker, role, agentType, sessionId, settings, sandbox, variables }: HookParts,
  env: Env,
): Hooks {
  const notice = (event: HookEvent, text: string): void => worker.onEvent({ type: "hook", event, text });
  const transcript = transcriptPath(ctx.home.root, sessionId);
  const setting = (): HooksSetting => settings().hooks;
  const { passSecrets, hooks: limits } = settings().teams;
  const ran: NonNullable<HookOptions["onRan"]> = (event, result, ms) =>
    worker.onEvent({ type: "hook_ran", event, result, ms });
  const hooks = new Hooks({
    setting,
    sessionId,
    transcript,
    cwd: ctx.cwd,
    env,
    passSecrets,
    sandbox,
    variables,
    isOwn: (event, command) => isOwnHook(settings(), event, command),
    onNotice: notice,
    ...recordTaskHooks(ctx.home, notice, ran),
  });
  const { maxContinuations } = limits;
  const { name } = worker;
  worker.idleHook = new IdleHook({
    hooks,
    role,
    name,
    ref: ctx.ref,
    // A lead's type is that of the team's config: TeamCreate may change it.
    agentType: () => currentEventSubject(ctx.ref, name).agentType ?? agentType,
    transcript,
    maxContinuations,
    notice,
  });
  return hooks;
}
