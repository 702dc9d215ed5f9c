import type { CallToolResult, InputRequiredResult, Tool } from "@modelcontextprotocol/server";
import { cleanData, cleanResult, dataText } from "../../agent/mcp/clean-result.ts";
import type { ToolResult } from "../../agent/tool.ts";
import { ignoredKeys, schemaOf } from "../../agent/tools/tool-specs.ts";
import { messageOf, TeamError } from "../../errors.ts";
import { parseWithMessages, pathText } from "../../schema/zod-helpers.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { findMember } from "../../team/members/members.ts";
import { withRefusals } from "../../team-tools/context.ts";
import type {
  AnyClientTool,
  ClientCall,
  ClientToolContext,
  ToolHints,
} from "../../team-tools/mcp/client-tool.ts";
import { clientTools } from "../../team-tools/mcp/client-tools.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { FormNeeded, formResult, type Sdk } from "./forms.ts";

/** Maximum concurrent calls; a client with more is broken. */
const MAX_CALLS = 100;
/** Maximum problems of an input that one answer names. */
const MAX_PROBLEMS = 5;

/** Runs the tool calls of one member. */
export class ToolCalls {
  readonly list: Tool[];
  readonly #sdk: Sdk;
  readonly #context: ClientToolContext;
  readonly #tools: readonly AnyClientTool[];
  readonly #onProblem: (text: string) => void;
  #running = 0;

  constructor(sdk: Sdk, context: ClientToolContext, onProblem: (text: string) => void) {
    this.#sdk = sdk;
    this.#context = context;
    this.#onProblem = onProblem;
    this.#tools = clientTools(context);
    this.list = this.#tools.map(({ name, description, input, output, hints }) => ({
      name,
      title: hints.title,
      description: stripControls(description),
      inputSchema: schemaOf(input) as Tool["inputSchema"],
      outputSchema: schemaOf(output, "output") as NonNullable<Tool["outputSchema"]>,
      annotations: annotationsOf(hints),
    }));
  }

  /** Finds a tool by its name. Also accepts `read_messages` for ReadMessages, as models write it. */
  find(name: string): AnyClientTool | undefined {
    const plain = (text: string): string => text.replaceAll("_", "").toLowerCase();
    return this.#tools.find((tool) => [tool.name, tool.alias ?? tool.name].map(plain).includes(plain(name)));
  }

  async run(
    tool: AnyClientTool,
    input: unknown,
    call: ClientCall,
  ): Promise<CallToolResult | InputRequiredResult> {
    if (this.#running >= MAX_CALLS)
      return refusal(`${MAX_CALLS} calls are already running; nothing was done. Wait for their results.`);
    this.#running += 1;
    try {
      return await this.#run(tool, input, call);
    } catch (error) {
      if (error instanceof FormNeeded) return formResult(this.#sdk, error.form);
      if (call.signal.aborted) throw error;
      // A defect or a failing disk: the client gets a result, the person the error.
      this.#onProblem(`${tool.name} failed: ${messageOf(error)}`);
      return refusal(`${tool.name} failed: ${messageOf(error)}`);
    } finally {
      this.#running -= 1;
    }
  }

  async #run(tool: AnyClientTool, input: unknown, call: ClientCall): Promise<CallToolResult> {
    const parsed = parseWithMessages(tool.input, input);
    if (!parsed.success)
      return refusal(`Invalid input: ${problemsOf(parsed.error.issues)} Nothing was done.`);
    const result = await withRefusals(async () => {
      const { ref, actor } = this.#context.ctx;
      if (!(tool.withoutTeam === true && !teamExists(ref))) {
        // A removed member must not act, although its server is still running.
        findMember(readTeam(ref), actor);
        await this.#acknowledge(call.client);
      }
      return tool.execute(parsed.data, call);
    });
    return answerOf(result, ignoredKeys(tool, input));
  }

  /** Records which messages have arrived. A failure does not stop the call: the messages are only delivered again. */
  async #acknowledge(client: string): Promise<void> {
    try {
      await this.#context.mail.acknowledge(client);
    } catch (error) {
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") throw error;
      this.#onProblem(`the receipt of messages was not recorded; they will come again: ${messageOf(error)}`);
    }
  }
}

function annotationsOf({
  title,
  readOnly = false,
  destructive = false,
  idempotent = false,
  openWorld = false,
}: ToolHints): NonNullable<Tool["annotations"]> {
  return {
    title,
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: readOnly || idempotent,
    openWorldHint: openWorld,
  };
}

/** Names each wrong field with its problem. */
function problemsOf(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): string {
  const named = issues.slice(0, MAX_PROBLEMS).map(({ path, message }) => {
    const field = shortened(stripControls(pathText(path)), 100);
    return `${field === "" ? "" : `${field}: `}${shortened(stripControls(message), 300)}.`;
  });
  const more = issues.length - named.length;
  return [...named, ...(more > 0 ? [`And ${more} more.`] : [])].join(" ");
}

/** Returns a result as text, and as data unless it is an error. */
function answerOf(result: ToolResult, ignored: readonly string[]): CallToolResult {
  const isError = result.isError === true;
  const data =
    isError || typeof result.data !== "object" || result.data === null
      ? undefined
      : cleanData(result.data as Record<string, unknown>);
  const isJson = data !== undefined && result.content.startsWith("{");
  const text = isJson ? dataText(data) : cleanResult(result);
  const names = ignored.map((key) => shortened(stripControls(key), 100)).join(", ");
  const note = `Ignored fields that the tool does not have: ${names}.`;
  return {
    content: [text, ...(ignored.length === 0 ? [] : [note])].map((one) => ({
      type: "text" as const,
      text: one,
    })),
    ...(data === undefined ? {} : { structuredContent: data }),
    isError,
  };
}

function refusal(text: string): CallToolResult {
  return { content: [{ type: "text", text: cleanResult({ content: text }) }], isError: true };
}
