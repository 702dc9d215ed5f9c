import { pipeline } from "node:stream/promises";
import { TEAM_SERVER, type ToolServer } from "../../adapter/channel.ts";
import { BackgroundTasks } from "../../agent/background/background-tasks.ts";
import type { Hooks } from "../../agent/hooks/hooks.ts";
import type { ByteStreams } from "../../agent/mcp/line-transport.ts";
import { serveTools } from "../../agent/mcp/serve-tools.ts";
import type { AnyTool, ToolContext, ToolResult } from "../../agent/tool.ts";
import type { AgentPermissions } from "../../agent/turn/permission.ts";
import { permitAndExecute } from "../../agent/turn/permitted-call.ts";
import { messageOf } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import { listenLocally, type SocketDirectory } from "../../os/net/local-server.ts";
import { type TeamToolContext, withRefusals } from "../../team-tools/context.ts";
import { teamTools } from "../../team-tools/team-tools.ts";
import type { Worker } from "../../worker/worker.ts";
import { taskVerifier } from "../task-verifier.ts";

/** Every CLI waits for a tool at least this many milliseconds: common CLIs give up after a minute. */
const CLIENT_PATIENCE_MS = 45_000;

interface ServedTeam {
  readonly ctx: OperationContext;
  readonly worker: Worker;
  readonly env: ToolContext["env"];
  readonly hooks: Hooks;
  readonly permissions: AgentPermissions;
  readonly types: TeamToolContext["types"];
  readonly role: "teammate" | "lead";
  /** Undefined for a teammate. */
  readonly led?: LeadTools | undefined;
  readonly socket: SocketDirectory;
  readonly note: (line: string) => void;
}

/** Additions for the tools of a lead. */
export interface LeadTools
  extends Pick<TeamToolContext, "spawn" | "teamsOff" | "keepsTeam" | "onTeamMoved" | "onTeamDelete"> {
  /** No user can be asked. */
  readonly isUnattended: boolean;
}

/**
 * Serves the team tools of a worker to the CLI that runs instead of teams' own agent. The CLI starts a relay to a socket of this
 * process, so its calls have the worker's identity and rights, even from inside a sandbox.
 */
export async function serveTeamTools(served: ServedTeam): Promise<{
  /** The server as the CLI starts it. */
  readonly server: ToolServer;
  /** Resolves once the CLI has read the list of tools. */
  readonly listed: Promise<void>;
  readonly close: () => void;
}> {
  const { ctx, worker, env, hooks, permissions, types, role, led, socket: place, note } = served;
  const { isUnattended = false, ...own } = led ?? { spawn: {} };
  const context: TeamToolContext = {
    ...own,
    ctx,
    worker,
    role,
    hooks,
    verify: taskVerifier({ ref: ctx.ref, env, actor: worker.name, note, patienceMs: CLIENT_PATIENCE_MS }),
    types,
    hasOwnSubagents: true,
    subagent: () => Promise.reject(new Error("A CLI runs its own subagents.")),
  };
  const leftOut = [
    ...(role === "lead" && !context.teamsOff ? [] : ["Agent"]),
    ...(isUnattended ? ["AskUserQuestion"] : []),
  ];
  const tools = teamTools(context).filter(({ name }) => !leftOut.includes(name));
  const isOffered = (tool: AnyTool): boolean =>
    tool.whilePlanning !== true || worker.planApproval.mode === "plan";
  const background = new BackgroundTasks({ cwd: ctx.cwd, secrets: [] });
  const call = (tool: AnyTool, input: unknown, id: string, signal: AbortSignal): Promise<ToolResult> =>
    withRefusals(() =>
      permitAndExecute(
        {
          tool,
          input,
          use: { type: "tool_use", id, name: tool.name, input },
          context: { cwd: ctx.cwd, env, signal, seenFiles: new Map(), background },
        },
        { permissions, signal, emit: (event) => worker.onEvent(event) },
        undefined,
      ),
    );
  let onListed: () => void = () => undefined;
  const listed = new Promise<void>((resolve) => {
    onListed = resolve;
  });
  const close = await listenLocally(place, (socket) => {
    const gone = new AbortController();
    socket.once("close", () => gone.abort());
    const streams: ByteStreams = {
      bytesIn: () => socket,
      bytesOut: (bytes) => pipeline(bytes, socket),
    };
    const onProblem = (text: string): void => note(`a problem in a call of the team's tools: ${text}`);
    serveTools(
      { tools: () => tools.filter(isOffered), onListed, call },
      streams,
      gone.signal,
      onProblem,
    ).catch((error: unknown) => {
      note(`the team's tools are not available: ${messageOf(error)}`);
      socket.destroy();
    });
  });
  const [command = process.execPath, ...args] = ctx.program;
  return {
    server: { name: TEAM_SERVER, command, args: [...args, "relay", place.path], env: {} },
    listed,
    close,
  };
}
