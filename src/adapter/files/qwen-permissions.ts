import { messageOf } from "../../errors.ts";
import type { ChannelEvents } from "../channel.ts";
import { requestOf } from "../gemini-tools.ts";
import { refusalLine } from "../refusals.ts";
import { type Fields, fieldsOf } from "../reported-values.ts";
import { isQuestion, isTeamTool, type QwenRequest, qwenRequest } from "./qwen-requests.ts";

interface PermissionsOptions {
  readonly cwd: string;
  readonly events: Pick<ChannelEvents, "ask" | "blocked" | "note">;
  /** @throws a system error */
  readonly answer: (id: string, allowed: boolean) => void;
  /** @param why the request and the reason, in one line for the model; undefined if the refusal ends the turn */
  readonly refused: (callId: string, why: string | undefined) => void;
}

/** The open requests of Qwen. The first answer counts, including an answer in Qwen's own screen. */
export class QwenPermissions {
  readonly #options: PermissionsOptions;
  readonly #open = new Map<string, { readonly callId: string; readonly closed: AbortController }>();
  /** Requests that only a person can answer. */
  readonly #questions = new Map<string, string>();

  constructor(options: PermissionsOptions) {
    this.#options = options;
  }

  event(event: Fields): void {
    if (event.type === "control_request") this.#onRequest(event);
    else if (event.type === "control_response") this.#close(String(fieldsOf(event.response).request_id));
  }

  #onRequest(event: Fields): void {
    const asked = qwenRequest(event);
    if (asked === undefined || this.#open.has(asked.id)) return;
    if (isQuestion(asked)) {
      this.#questions.set(asked.id, asked.callId);
      this.#options.events.blocked({
        name: "its model has a question",
        remedy: "choose with the arrow keys and Enter in its pane",
      });
    } else {
      this.#decide(asked).catch((error: unknown) =>
        this.#options.events.note(`a request was not answered (${messageOf(error)}); answer it in its pane`),
      );
    }
  }

  async #decide(asked: QwenRequest): Promise<void> {
    const { events, answer, refused, cwd } = this.#options;
    if (isTeamTool(asked)) return answer(asked.id, true);
    const closed = new AbortController();
    this.#open.set(asked.id, { callId: asked.callId, closed });
    const request = { id: asked.callId, ...requestOf(asked, cwd) };
    const { allowed, note } = await events.ask(request, closed.signal);
    if (closed.signal.aborted) return;
    this.#open.delete(asked.id);
    if (!allowed) refused(asked.callId, refusalLine(request.tool, request.summary, note));
    answer(asked.id, allowed);
  }

  /** Refuses every open request. @returns whether there was one */
  refuseAll(): boolean {
    const asked = [...this.#questions, ...[...this.#open].map(([id, { callId }]) => [id, callId] as const)];
    for (const [id, callId] of asked) {
      this.#close(id);
      this.#options.refused(callId, undefined);
      this.#options.answer(id, false);
    }
    return asked.length > 0;
  }

  /** Closes the requests of a call. @param callId the call that has a result; undefined for all calls */
  closed(callId: string | undefined): void {
    for (const [id, { callId: one }] of this.#open)
      if (callId === undefined || one === callId) this.#close(id);
    for (const [id, one] of this.#questions) if (callId === undefined || one === callId) this.#close(id);
  }

  #close(id: string): void {
    this.#open.get(id)?.closed.abort(new Error("It was answered in the CLI's own screen."));
    this.#open.delete(id);
    if (this.#questions.delete(id) && this.#questions.size === 0) this.#options.events.blocked(undefined);
  }
}
