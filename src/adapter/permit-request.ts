import type { AgentEvent } from "../agent/events.ts";
import type { Hooks } from "../agent/hooks/hooks.ts";
import type { CommandSandbox } from "../agent/tool.ts";
import { type AgentPermissions, permit } from "../agent/turn/permission.ts";
import type { Env } from "../os/env.ts";
import type { ChannelAnswer, ChannelRequest } from "./channel.ts";

interface PermitOptions {
  readonly cwd: string;
  readonly env: Env;
  /** The sandbox that the whole CLI runs in; undefined without one. */
  readonly sandbox: CommandSandbox | undefined;
  readonly hooks: Hooks | undefined;
  readonly permissions: AgentPermissions;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
}

/**
 * Decides on a request of a CLI as on a tool call of our own agents: by mode, rules and protected files, else by a person.
 * Rejects when the signal aborts.
 */
export async function permitRequest(
  request: ChannelRequest,
  { cwd, env, sandbox, hooks, ...rights }: PermitOptions,
): Promise<ChannelAnswer> {
  const { id, tool, input } = request;
  const about = { tool_name: tool, tool_input: input, tool_use_id: id };
  const before = await hooks?.run("PreToolUse", about, rights.signal, tool);
  rights.signal.throwIfAborted();
  if (before?.stopped !== undefined)
    return { allowed: false, note: `A hook refused the call: ${before.stopped}` };
  // The CLI executes its own call, so no hook and no person can change it.
  if (before?.input !== undefined) return { allowed: false, note: CHANGED };
  const { answer, decision } = await permit(
    {
      tool: {
        name: tool,
        access: () => request.access,
        summary: () => request.summary,
        summaryPath: () => (typeof input.file_path === "string" ? input.file_path : ""),
      },
      input,
      use: { type: "tool_use", id, name: tool, input },
      context: { cwd, env, sandbox },
    },
    rights,
    before,
  );
  if (!answer.allowed)
    return { allowed: false, note: answer.note ?? decision.reason, isAnswered: answer.note !== undefined };
  return answer.input === undefined
    ? { allowed: true, note: answer.note }
    : { allowed: false, note: CHANGED };
}

const CHANGED = "The call was refused because its input was changed, which this program does not support.";
