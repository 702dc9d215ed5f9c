import type { ChannelEvents, ChannelSetup } from "../channel.ts";
import type { RequestOfCall } from "../request-shapes.ts";
import { type AcpCall, contentText, requestOf } from "./acp-requests.ts";

/** The tool calls of a prompt. */
export class ToolCalls {
  readonly #setup: ChannelSetup;
  readonly #events: ChannelEvents;
  readonly #known = new Map<string, AcpCall>();
  readonly #open = new Set<string>();

  constructor(setup: ChannelSetup, events: ChannelEvents) {
    this.#setup = setup;
    this.#events = events;
  }

  /** Adds the fields of an update or a request to those of its call. @returns all of them */
  add(update: AcpCall): AcpCall {
    const known = this.#known.get(update.toolCallId);
    const news = Object.fromEntries(
      Object.entries(update).filter(([, value]) => value !== undefined && value !== null),
    );
    const call = { ...known, ...news } as AcpCall;
    this.#known.set(update.toolCallId, call);
    return call;
  }

  /** Reports the start and the end of a call. @returns whether the call is new */
  report(update: AcpCall, status: string | undefined): boolean {
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
      this.#events.toolEnded({ id, content: contentText(call), isError: status === "failed" });
    }
    return isNew;
  }

  /** Returns a call as our permission rules understand it. */
  requestOf(call: AcpCall): RequestOfCall {
    const { cwd, adapter } = this.#setup;
    return requestOf(call, { cwd, commandInTitle: adapter.commandInTitle });
  }

  clear(): void {
    this.#known.clear();
    this.#open.clear();
  }
}
