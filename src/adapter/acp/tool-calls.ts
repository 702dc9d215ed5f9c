import type { ChannelEvents, ChannelSetup } from "../channel.ts";
import type { RequestOfCall } from "../request-shapes.ts";
import { type AcpCall, contentText, requestOf } from "./acp-requests.ts";

/** The tool calls of a prompt. */
export class ToolCalls {
  readonly #setup: Pick<ChannelSetup, "adapter" | "cwd">;
  readonly #events: Pick<ChannelEvents, "toolStarted" | "toolEnded">;
  readonly #known = new Map<string, AcpCall>();
  readonly #open = new Set<string>();
  readonly #ended = new Set<string>();

  constructor(
    setup: Pick<ChannelSetup, "adapter" | "cwd">,
    events: Pick<ChannelEvents, "toolStarted" | "toolEnded">,
  ) {
    this.#setup = setup;
    this.#events = events;
  }

  /** Merges an update or a request into its call. @returns the merged call */
  add(update: AcpCall): AcpCall {
    const known = this.#known.get(update.toolCallId);
    const news = Object.fromEntries(
      Object.entries(update).filter(([, value]) => value !== undefined && value !== null),
    );
    const call = { ...known, ...news } as AcpCall;
    this.#known.set(update.toolCallId, call);
    return call;
  }

  /** Reports the start and the end of a call; ignores updates after its end. @returns whether the call is new */
  report(update: AcpCall & { readonly sessionUpdate: string }, status: string | undefined): boolean {
    if (update.sessionUpdate === "tool_call") this.#ended.delete(update.toolCallId);
    else if (this.#ended.has(update.toolCallId)) return false;
    const call = this.add(update);
    const id = call.toolCallId;
    const isNew = !this.#open.has(id);
    if (isNew) {
      this.#open.add(id);
      const { tool, summary } = this.requestOf(call);
      this.#events.toolStarted({ id, tool, summary });
    }
    if (status === "completed" || status === "failed") {
      this.#open.delete(id);
      this.#known.delete(id);
      this.#ended.add(id);
      this.#events.toolEnded({ id, content: contentText(call), isError: status === "failed" });
    }
    return isNew;
  }

  /** Maps a call to our permission rules. */
  requestOf(call: AcpCall): RequestOfCall {
    const { cwd, adapter } = this.#setup;
    return requestOf(call, { cwd, commandInTitle: adapter.commandInTitle });
  }

  clear(): void {
    this.#known.clear();
    this.#open.clear();
    this.#ended.clear();
  }
}
