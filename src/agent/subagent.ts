import { type AgentOptions, createAgent } from "./agent.ts";
import { type Hooks, outputText } from "./hooks/hooks.ts";
import type { TurnResult } from "./turn/turn.ts";

interface SubagentOptions extends Omit<AgentOptions, "onTaskEnd" | "onInputRecorded" | "onBackgroundChange"> {
  /** Id for hooks. */
  readonly id: string;
  readonly agentType: string;
  readonly prompt: string;
  /** How many times a hook may make the subagent continue. */
  readonly maxContinuations: number;
}

export interface SubagentResult extends TurnResult {
  /** File of the subagent's conversation. */
  readonly transcriptPath: string;
}

/** Sender of a subagent's prompt, for a playbook's `{{message.from}}`. */
const FROM = "agent";

/**
 * Runs an agent for one piece of work. Its separate conversation begins with the prompt alone. Its background work ends when it
 * returns.
 */
export async function runSubagent(options: SubagentOptions, signal: AbortSignal): Promise<SubagentResult> {
  const { prompt, hooks, maxContinuations, transcript } = options;
  const agent = createAgent(options);
  const about = {
    agent_id: options.id,
    agent_type: options.agentType,
    agent_transcript_path: transcript.path,
  };
  try {
    const start = await hooks?.run("SubagentStart", about, signal, options.agentType);
    let text = [prompt, outputText(start?.outputs ?? new Map())].filter((part) => part !== "").join("\n\n");
    let turn = await run();
    for (let times = 0; times < maxContinuations && turn.outcome === "completed"; times += 1) {
      const why = await reasonToContinue(hooks);
      if (why === undefined) break;
      text = why;
      const next = await run();
      turn = { ...next, toolCalls: turn.toolCalls + next.toolCalls };
    }
    const { tokens: usage, costUsd } = agent;
    return { ...turn, usage, costUsd, transcriptPath: transcript.path };

    function run(): Promise<TurnResult> {
      return agent.run({ text, origin: { text, from: FROM }, keys: [] }, signal);
    }
  } finally {
    await agent.end();
  }

  /** Returns the text of a hook that makes the subagent continue; undefined if it may end. */
  async function reasonToContinue(stopHooks: Hooks | undefined): Promise<string | undefined> {
    const outcome = await stopHooks?.run("SubagentStop", about, signal, options.agentType);
    return outcome?.endsAgent ? undefined : outcome?.stopped;
  }
}
