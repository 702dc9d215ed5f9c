import { messageOf } from "../../errors.ts";
import type { AnyTool, ToolResult } from "../tool.ts";
import { ignoredNotes, parseCallInput, toolSpecs } from "../tools/tool-specs.ts";
import { cleanResult } from "./clean-result.ts";
import { type ByteStreams, serveLines } from "./line-transport.ts";

interface ServedTools {
  /** The tools that are offered now. */
  tools(): readonly AnyTool[];
  /** Called when the client has listed the tools. */
  onListed?(): void;
  /** Runs a call with a parsed input. @param signal aborts when the client cancels the call */
  call(tool: AnyTool, input: unknown, id: string, signal: AbortSignal): Promise<ToolResult>;
}

/**
 * Serves tools to one client, until the client closes its end or the signal aborts.
 * @param onProblem called with a problem for a person
 */
export async function serveTools(
  served: ServedTools,
  streams: ByteStreams,
  signal: AbortSignal,
  onProblem: (text: string) => void,
): Promise<void> {
  const { Server } = await import("@modelcontextprotocol/server");
  const create = () => {
    const server = new Server({ name: "teams", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => {
      served.onListed?.();
      return {
        tools: toolSpecs(served.tools()).map(({ name, description, inputSchema }) => ({
          name,
          description,
          inputSchema: { ...inputSchema, type: "object" as const },
        })),
      };
    });
    let calls = 0;
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      const tool = served.tools().find(({ name, alias }) => name === params.name || alias === params.name);
      if (tool === undefined) return failed(`There is no tool ${JSON.stringify(params.name)}.`);
      const ignored = ignoredNotes(tool, params.arguments);
      const parsed = parseCallInput(tool, params.arguments ?? {});
      if ("problem" in parsed) return failed(parsed.problem, ignored);
      calls += 1;
      try {
        const result = await served.call(tool, parsed.input, `mcp-${calls}`, mcpReq.signal);
        const text = cleanResult({ ...result, notes: [...(result.notes ?? []), ...ignored] });
        return { content: [{ type: "text" as const, text }], isError: result.isError === true };
      } catch (error) {
        return failed(messageOf(error));
      }
    });
    return server;
  };
  await serveLines(streams, create, signal, onProblem);
}

function failed(
  content: string,
  notes: readonly string[] = [],
): { content: { type: "text"; text: string }[]; isError: true } {
  return { content: [{ type: "text", text: cleanResult({ content, notes }) }], isError: true };
}
