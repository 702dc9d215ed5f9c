import { isDeepStrictEqual } from "node:util";
import { type ChannelEvents, TEAM_SERVER } from "../channel.ts";
import { type GeminiCall, requestOf } from "../gemini-tools.ts";
import { type Fields, fieldsOf } from "../reported-values.ts";

/** Tools that need no permission: they affect only Gemini itself, or ask the person on its screen. */
const OWN_TOOLS = new Set(["write_todos", "update_topic", "complete_task", "get_internal_docs", "ask_user"]);

/** The reason of a refusal, for the model and for a process that waits for an answer. */
export const TURN_ENDED = "The turn of this call has ended.";

interface CallsOptions {
  readonly cwd: string;
  readonly events: ChannelEvents;
}

/** The tool calls of Gemini's model: a hook asks before each call, and the conversation record reports its result. */
export class GeminiCalls {
  readonly #options: CallsOptions;
  readonly #open: (GeminiCall & { readonly id: string })[] = [];
  #closed = new AbortController();
  #count = 0;
  #hasQuestion = false;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /**
   * Asks for permission for one tool call.
   * @param hookEnded aborts when the hook that asks has ended
   * @returns why the call is refused; undefined if it may run
   */
  async ask(
    { tool_name, tool_input, mcp_context }: Fields,
    hookEnded: AbortSignal,
  ): Promise<string | undefined> {
    const { cwd, events } = this.#options;
    if (typeof tool_name !== "string") return "The call has no tool name.";
    const call = { tool: tool_name, input: fieldsOf(tool_input) };
    this.#count += 1;
    const id = `call-${this.#count}`;
    this.#open.push({ ...call, id });
    const request = { id, ...requestOf(call, cwd) };
    events.toolStarted({ id, tool: request.tool, summary: request.summary });
    if (OWN_TOOLS.has(call.tool) || fieldsOf(mcp_context).server_name === TEAM_SERVER) return undefined;
    const closed = AbortSignal.any([this.#closed.signal, hookEnded]);
    const { allowed, note = "no reason was given" } = await events.ask(request, closed);
    if (closed.aborted) return TURN_ENDED;
    return allowed ? undefined : note;
  }

  /** Reports a question on Gemini's screen that only the person can answer. */
  onQuestion(): void {
    this.#hasQuestion = true;
    this.#options.events.blocked({
      name: "its screen shows a question",
      remedy: "choose with the arrow keys and Enter in its pane",
    });
  }

  ended({ tool, input }: GeminiCall, result: string, isError: boolean): void {
    const at = this.#open.findIndex((call) => call.tool === tool && isDeepStrictEqual(call.input, input));
    const [call] = at < 0 ? [] : this.#open.splice(at, 1);
    if (call !== undefined) this.#options.events.toolEnded({ id: call.id, content: result, isError });
    this.#answered();
  }

  /** Withdraws the open requests of a turn that has ended. */
  endTurn(): void {
    this.#open.length = 0;
    this.#closed.abort(new Error(TURN_ENDED));
    this.#closed = new AbortController();
    this.#answered();
  }

  #answered(): void {
    if (!this.#hasQuestion) return;
    this.#hasQuestion = false;
    this.#options.events.blocked(undefined);
  }
}
