import type { CallToolResult, Server, ServerContext, Tool } from "@modelcontextprotocol/server";
import { cleanResult } from "../../agent/mcp/clean-result.ts";
import { schemaOf } from "../../agent/tools/tool-specs.ts";
import { messageOf, TeamError } from "../../errors.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { readTeam } from "../../team/config/config.ts";
import { findMember } from "../../team/members/members.ts";
import { withRefusals } from "../../team-tools/context.ts";
import type { AnyClientTool, ClientCall, ClientToolContext } from "../../team-tools/mcp/client-tool.ts";
import { clientTools } from "../../team-tools/mcp/client-tools.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { stripControls } from "../../text/terminal-text.ts";

/** Most calls that run at a time; a client with more is broken. */
const MAX_CALLS = 100;

/** Makes a server for one connection, or for one HTTP request. All of them share the member's state. */
export type ServerFactory = () => Server;

/**
 * Loads the server package, and returns the factory of a member's servers.
 * @param onProblem called with what a person should know; the client gets an answer in any case
 */
export async function serverFactory(
  context: ClientToolContext,
  version: string,
  onProblem: (text: string) => void,
): Promise<ServerFactory> {
  const sdk = await import("@modelcontextprotocol/server");
  const calls = new ToolCalls(context, onProblem);
  const info = { name: "teams", title: "teams", version };
  return () => {
    const server = new sdk.Server(info, {
      capabilities: { tools: {} },
      instructions: instructionsFor(context),
    });
    server.setRequestHandler("tools/list", () => ({ tools: calls.list }));
    server.setRequestHandler("tools/call", async ({ params }, ctx) => {
      const tool = calls.find(params.name);
      if (tool === undefined) {
        const known = calls.list.map(({ name }) => name).join(", ");
        throw new sdk.ProtocolError(
          sdk.ProtocolErrorCode.InvalidParams,
          `There is no tool ${JSON.stringify(shortened(stripControls(params.name), 100))}. The tools: ${known}`,
        );
      }
      return calls.run(tool, params.arguments ?? {}, clientCall(ctx));
    });
    return server;
  };
}

/** Runs the tool calls of one member. */
class ToolCalls {
  readonly list: Tool[];
  readonly #context: ClientToolContext;
  readonly #tools: readonly AnyClientTool[];
  readonly #onProblem: (text: string) => void;
  #running = 0;

  constructor(context: ClientToolContext, onProblem: (text: string) => void) {
    this.#context = context;
    this.#onProblem = onProblem;
    this.#tools = clientTools(context);
    this.list = this.#tools.map(({ name, description, input, readOnly = false }) => ({
      name,
      description: stripControls(description),
      inputSchema: schemaOf(input) as Tool["inputSchema"],
      annotations: { readOnlyHint: readOnly, destructiveHint: false, openWorldHint: false },
    }));
  }

  /** Also finds `read_messages` for ReadMessages, as models write it. */
  find(name: string): AnyClientTool | undefined {
    const plain = (text: string): string => text.replaceAll("_", "").toLowerCase();
    return this.#tools.find((tool) => plain(tool.name) === plain(name));
  }

  async run(tool: AnyClientTool, input: unknown, call: ClientCall): Promise<CallToolResult> {
    if (this.#running >= MAX_CALLS)
      return refusal(`${MAX_CALLS} calls are running already; nothing was done. Wait for their results.`);
    this.#running += 1;
    try {
      return await this.#run(tool, input, call);
    } catch (error) {
      if (call.signal.aborted) throw error;
      // A defect or a failing disk: the client gets a result, the person the error.
      this.#onProblem(`${tool.name} failed: ${messageOf(error)}`);
      return refusal(`${tool.name} failed: ${messageOf(error)}`);
    } finally {
      this.#running -= 1;
    }
  }

  async #run(tool: AnyClientTool, input: unknown, call: ClientCall): Promise<CallToolResult> {
    const parsed = tool.input.safeParse(input);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const at = issue?.path.join(".") ?? "";
      return refusal(
        `Invalid input${at === "" ? "" : ` (${shortened(at, 100)})`}: ${issue?.message ?? "unknown"}. Nothing was done.`,
      );
    }
    const result = await withRefusals(async () => {
      const { ref, actor } = this.#context.ctx;
      // Removed members stay out, although their servers run on.
      findMember(readTeam(ref), actor);
      await this.#acknowledge();
      return tool.execute(parsed.data, call);
    });
    return { content: [{ type: "text", text: cleanResult(result) }], isError: result.isError === true };
  }

  /** A failure does not stop the call: the messages would only come again. */
  async #acknowledge(): Promise<void> {
    try {
      await this.#context.mail.acknowledge();
    } catch (error) {
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") throw error;
      this.#onProblem(`the receipt of messages was not recorded: ${messageOf(error)}`);
    }
  }
}

function refusal(text: string): CallToolResult {
  return { content: [{ type: "text", text: cleanResult({ content: text }) }], isError: true };
}

function clientCall({ mcpReq }: ServerContext): ClientCall {
  const token = mcpReq._meta?.progressToken;
  let progress = 0;
  return {
    signal: mcpReq.signal,
    progress: (message) => {
      if (token === undefined || mcpReq.signal.aborted) return;
      progress += 1;
      const params = { progressToken: token, progress, message };
      // A client that has gone needs no progress; its call ends by the signal.
      void mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
    },
  };
}

/** Tells a model who it is in the team, and how messages reach it. */
function instructionsFor({ ctx, worker, role, withoutInbox }: ClientToolContext): string {
  const who =
    role === "lead"
      ? `You are ${worker.name}, the lead of the agent team ${ctx.ref.team}.`
      : `You are ${worker.name}, a teammate in the agent team ${ctx.ref.team}, which ${LEAD_NAME} leads.`;
  const mail = withoutInbox
    ? "Messages of the others arrive without a tool call."
    : "Messages arrive only when you ask for them: call ReadMessages when you start and after each piece of work, and Wait when you have nothing to do.";
  const idle =
    role === "lead" || withoutInbox
      ? ""
      : " When your work is done or cannot continue, call ReportIdle with your result.";
  return `${who} Your plain text reaches no other member; use SendMessage. ${mail}${idle} Claim a task with TaskClaim before you work on it, and set it to completed with TaskUpdate afterwards.`;
}
