import { onTestFinished } from "vitest";
import { BackgroundTasks } from "../../../src/agent/background/background-tasks.ts";
import type { AnyTool, ToolResult } from "../../../src/agent/tool.ts";
import type { SpawnOptions } from "../../../src/operations/spawn/spawn.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PermissionMode } from "../../../src/schema/permission-modes.ts";
import { readTeam } from "../../../src/team/config/config.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { teamTools } from "../../../src/team-tools/team-tools.ts";
import { type RunningWorker, startWorker } from "../worker/start-worker.ts";

/** The team tools of one member, bound to its worker. */
export interface MemberTools {
  readonly ref: TeamRef;
  readonly running: RunningWorker;
  readonly names: readonly string[];
  tool(name: string): AnyTool;
  /** Calls a tool as the agent's loop does: parses the input, then executes it. */
  use(name: string, input: object): Promise<ToolResult>;
  /** Calls a tool, and returns the result as the model reads it. */
  data(name: string, input: object): Promise<Record<string, unknown>>;
}

/** Refuses every subagent: test/integration/worker/subagents.test.ts covers them. */
export const noSubagent = (): Promise<never> => Promise.reject(new Error("no subagent here"));

export async function memberTools(
  ref: TeamRef,
  name: string,
  options: {
    readonly mode?: PermissionMode;
    readonly spawn?: SpawnOptions;
    readonly keepsTeam?: boolean;
  } = {},
): Promise<MemberTools> {
  const role = name === LEAD_NAME ? "lead" : "teammate";
  const color = readTeam(ref).members.find((member) => member.name === name)?.color;
  const running = await startWorker(ref, {
    name,
    role,
    ...(options.mode === undefined ? {} : { mode: options.mode }),
    ...(color === undefined ? {} : { color }),
  });
  onTestFinished(async () => {
    await running.stop().catch(() => undefined);
  });
  const { worker, ctx } = running;
  const tools = teamTools({
    ctx,
    worker,
    role,
    keepsTeam: options.keepsTeam,
    spawn: options.spawn ?? { mode: "process" },
    subagent: noSubagent,
  });
  const tool = (wanted: string): AnyTool => {
    const found = tools.find((one) => one.name === wanted);
    if (found === undefined) throw new Error(`no tool ${wanted}`);
    return found;
  };
  const context = {
    cwd: "/",
    env: {},
    signal: new AbortController().signal,
    seenFiles: new Map<string, number>(),
    background: new BackgroundTasks({ cwd: "/", secrets: [] }),
  };
  const use = (wanted: string, input: object): Promise<ToolResult> =>
    tool(wanted).execute(tool(wanted).input.parse(input), context);
  return {
    ref,
    running,
    names: tools.map((one) => one.name),
    tool,
    use,
    data: async (wanted, input) => JSON.parse((await use(wanted, input)).content),
  };
}
