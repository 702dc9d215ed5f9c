import { type Hooks, outputText } from "../../agent/hooks/hooks.ts";
import { SessionVariables } from "../../agent/hooks/session-variables.ts";
import { hookCommands, type SessionSource } from "../../agent/hooks/settings.ts";
import type { Env } from "../../os/env.ts";
import { entryOf } from "../../os/files/fs.ts";
import { sessionEnvPath, transcriptPath } from "../../protocol/paths.ts";
import { currentEventSubject } from "../../team/members/members.ts";
import { createSessionEnv } from "../../team/records/session-env.ts";
import { isOwnHook } from "./agent-sandbox.ts";
import type { SharedParts } from "./subagents.ts";

/** Returns the variables that the SessionStart hooks of an agent set. Creates the directory of its session. */
export function sessionVariables(
  { ctx, sessionId, settings }: Pick<SharedParts, "ctx" | "sessionId" | "settings">,
  env: Env,
): SessionVariables {
  createSessionEnv(ctx.home, sessionId);
  return new SessionVariables({
    directory: sessionEnvPath(ctx.home.root, sessionId),
    env,
    hooks: () =>
      hookCommands(settings().hooks, "SessionStart", []).map(({ command }) => ({
        command,
        isOwn: isOwnHook(settings(), "SessionStart", command),
      })),
  });
}

interface SessionParts extends Pick<SharedParts, "ctx" | "worker" | "sessionId"> {
  readonly agentType: string;
  readonly hooks: Hooks;
  readonly variables: SessionVariables;
}

/** Runs the SessionStart hooks of an agent, and keeps the last output of each for its prompt. */
export class SessionStart {
  readonly #parts: SessionParts;
  readonly #hadConversation: boolean;
  readonly #outputs = new Map<string, string>();

  constructor(parts: SessionParts) {
    const { ctx, sessionId } = parts;
    this.#parts = parts;
    this.#hadConversation = entryOf(transcriptPath(ctx.home.root, sessionId)) !== undefined;
  }

  /** The section of the system prompt; "" if no hook printed anything. */
  get section(): string {
    const text = outputText(this.#outputs);
    return text === "" ? "" : `# Context from SessionStart hooks\n\n${text}`;
  }

  /** Runs the hooks for the start of the agent's process. Never rejects. */
  async begin(signal: AbortSignal): Promise<void> {
    const { worker, variables } = this.#parts;
    for (const text of await variables.keepAll())
      worker.onEvent({ type: "hook", event: "SessionStart", text });
    await this.run(this.#hadConversation ? "resume" : "startup", signal);
  }

  /**
   * Runs the hooks for this source. Never rejects. Keeps the earlier output of all other hooks, and of hooks that fail or are
   * interrupted.
   */
  async run(source: SessionSource, signal: AbortSignal): Promise<void> {
    const { ctx, worker, hooks } = this.#parts;
    if (!hooks.has("SessionStart", source)) return;
    const agentType = currentEventSubject(ctx.ref, worker.name).agentType ?? this.#parts.agentType;
    const { outputs } = await hooks.run("SessionStart", { source, agent_type: agentType }, signal, source);
    for (const [command, text] of outputs) this.#outputs.set(command, text);
  }
}
