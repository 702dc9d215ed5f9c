import { type AgentOptions, createAgent } from "./agent.ts";
import type { Hooks } from "./hooks/hooks.ts";
import type { TurnResult } from "./turn/turn.ts";

interface SubagentOptions extends Omit<AgentOptions, "onTaskEnd" | "onInputRecorded"> {
  /** Names it to hooks. */
  readonly id: string;
  readonly agentType: string;
  readonly prompt: string;
  /** Times in a row that a hook may send it on. */
  readonly maxContinuations: number;
}

export interface SubagentResult extends TurnResult {
  /** The file of its conversation. */
  readonly transcriptPath: string;
}

/** Who gives a subagent its work, for a playbook's `{{message.from}}`. */
const FROM = "agent";

/**
 * An agent for one piece of work, with a conversation of its own that begins with nothing but the prompt. It ends with its
 * last word, and takes what it runs in the background with it.
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
    const told = await hooks?.run("SubagentStart", about, signal, options.agentType);
    let text = [prompt, told?.stdout.trim() ?? ""].filter((part) => part !== "").join("\n\n");
    let turn = await run();
    for (let times = 0; times < maxContinuations && turn.outcome === "completed"; times += 1) {
      const why = await goOn(hooks);
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

  /** Why it may not end yet, in the words of a hook. */
  async function goOn(stops: Hooks | undefined): Promise<string | undefined> {
    const outcome = await stops?.run("SubagentStop", about, signal, options.agentType);
    return outcome?.endsAgent ? undefined : outcome?.stopped;
  }
}
