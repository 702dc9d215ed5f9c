import type { Hooks } from "../../agent/hooks/hooks.ts";
import { SessionVariables } from "../../agent/hooks/session-variables.ts";
import { hookCommands, type SessionSource } from "../../agent/hooks/settings.ts";
import type { Env } from "../../os/env.ts";
import { ensureDir, entryOf } from "../../os/files/fs.ts";
import { sessionEnvPath, transcriptPath } from "../../protocol/paths.ts";
import { currentEventSubject } from "../../team/members/members.ts";
import { isOwnHook } from "./agent-sandbox.ts";
import type { SharedParts } from "./subagents.ts";

/** Returns the variables that the SessionStart hooks of an agent set. Creates the directory of its session. */
export function sessionVariables(
  { ctx, sessionId, settings }: Pick<SharedParts, "ctx" | "sessionId" | "settings">,
  env: Env,
): SessionVariables {
  const directory = sessionEnvPath(ctx.home.root, sessionId);
  ensureDir(directory);
  return new SessionVariables({
    directory,
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

/** Runs the SessionStart hooks of an agent, and keeps their output for its prompt. */
export class SessionStart {
  readonly #parts: SessionParts;
  readonly #hadConversation: boolean;
  #context = "";

  constructor(parts: SessionParts) {
    const { ctx, sessionId } = parts;
    this.#parts = parts;
    this.#hadConversation = entryOf(transcriptPath(ctx.home.root, sessionId)) !== undefined;
  }

  /** The section of the system prompt; "" if no hook printed anything. */
  get section(): string {
    return this.#context === "" ? "" : `# Context from SessionStart hooks\n\n${this.#context}`;
  }

  /** Runs the hooks for the start of the agent's process. Never rejects. */
  async begin(signal: AbortSignal): Promise<void> {
    const { worker, variables } = this.#parts;
    for (const text of await variables.keepAll())
      worker.onEvent({ type: "hook", event: "SessionStart", text });
    await this.run(this.#hadConversation ? "resume" : "startup", signal);
  }

  /** Runs the hooks for this source. Without one, the output of the earlier ones stays. Never rejects. */
  async run(source: SessionSource, signal: AbortSignal): Promise<void> {
    const { ctx, worker, hooks } = this.#parts;
    if (!hooks.has("SessionStart", source)) return;
    const agentType = currentEventSubject(ctx.ref, worker.name).agentType ?? this.#parts.agentType;
    const { stdout } = await hooks.run("SessionStart", { source, agent_type: agentType }, signal, source);
    this.#context = stdout.trim();
  }
}
