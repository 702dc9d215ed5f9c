import { messageOf } from "../../errors.ts";
import type { ChannelEvents } from "../channel.ts";
import { type AskedField, askFields } from "../questions/ask-fields.ts";
import { optionFields } from "../questions/form-fields.ts";
import { type Fields, fieldsOf } from "../reported-values.ts";
import type { Bridge } from "./bridge.ts";
import { type AskedPermission, askedPermission, requestOf, textOf } from "./http-requests.ts";

/** Maximum depth of nested subagents whose requests are answered. */
const MAX_DEPTH = 8;

type RequestEvents = Pick<ChannelEvents, "ask" | "question" | "blocked" | "note">;

/** Answers the requests of one session and of its subagents; requests of other sessions are left to the person at the screen. */
export class HttpPermissions {
  readonly #bridge: Pick<Bridge, "request">;
  readonly #session: string;
  readonly #cwd: string;
  readonly #events: RequestEvents;
  readonly #open = new Map<string, AbortController>();
  /** Questions that only a person at the screen can answer. */
  readonly #questions = new Set<string>();

  constructor(bridge: Pick<Bridge, "request">, session: string, cwd: string, events: RequestEvents) {
    this.#bridge = bridge;
    this.#session = session;
    this.#cwd = cwd;
    this.#events = events;
  }

  event(type: string, properties: Fields): void {
    const id = textOf(properties.requestID) ?? textOf(properties.id) ?? "";
    if (type === "permission.asked") this.asked(properties);
    else if (type === "permission.replied") {
      this.#open.get(id)?.abort(new Error("It was answered in the CLI's own screen."));
      this.#open.delete(id);
    } else if (type === "question.asked") {
      if (properties.sessionID !== this.#session) return;
      const fields = optionFields(properties.questions, (_question, at) => String(at));
      if (id === "" || fields === undefined) {
        this.#questions.add(id);
        this.#events.blocked({ name: "its model has a question", remedy: "answer it in its pane" });
      } else void this.#question(id, fields);
    } else if (type === "question.replied" || type === "question.rejected") {
      this.#open.get(id)?.abort(new Error("It was answered in the CLI's own screen."));
      this.#open.delete(id);
      if (this.#questions.delete(id) && this.#questions.size === 0) this.#events.blocked(undefined);
    }
  }

  /** Forgets the questions on the screen of a turn that has ended: OpenCode need not report them as answered. */
  endTurn(): void {
    if (this.#questions.size === 0) return;
    this.#questions.clear();
    this.#events.blocked(undefined);
  }

  /** Asks a person in teams too; the first answer counts, here or in OpenCode's screen. */
  async #question(id: string, fields: readonly AskedField[]): Promise<void> {
    if (this.#open.has(id)) return;
    const closed = new AbortController();
    this.#open.set(id, closed);
    const values = await askFields(fields, (question) => this.#events.question(question, closed.signal));
    if (closed.signal.aborted) return;
    this.#open.delete(id);
    const answers = values && fields.map(({ key }) => [values.get(key)].flat());
    const path = `/question/${encodeURIComponent(id)}/${answers === undefined ? "reject" : "reply"}`;
    await this.#bridge
      .request("POST", path, answers === undefined ? {} : { answers })
      .catch((error: unknown) =>
        this.#events.note(
          `the answer did not reach its model (${messageOf(error)}); answer the question in its pane`,
        ),
      );
  }

  /** Decides on a request. Ignores a request that it already knows. */
  asked(value: unknown): void {
    const asked = askedPermission(value);
    if (asked === undefined || this.#open.has(asked.id)) return;
    const closed = new AbortController();
    this.#open.set(asked.id, closed);
    this.#decide(asked, closed.signal).catch((error: unknown) => {
      this.#open.delete(asked.id);
      if (!closed.signal.aborted)
        this.#events.note(`a request was not answered (${messageOf(error)}); answer it in its pane`);
    });
  }

  async #decide(asked: AskedPermission, closed: AbortSignal): Promise<void> {
    const { id } = asked;
    if (!(await this.#isOurs(asked.sessionID))) {
      this.#open.delete(id);
      return;
    }
    const request = requestOf(asked, await this.#inputOf(asked), this.#cwd);
    const { allowed, note } = await this.#events.ask({ id, ...request }, closed);
    if (closed.aborted) return;
    this.#open.delete(id);
    // A refusal without a message would end the turn.
    const message = note ?? "The call was refused.";
    const reply = allowed ? { reply: "once" } : { reply: "reject", message };
    await this.#bridge.request("POST", `/permission/${encodeURIComponent(id)}/reply`, reply);
  }

  async #isOurs(session: string): Promise<boolean> {
    let id: string | undefined = session;
    for (let depth = 0; depth < MAX_DEPTH && id !== undefined; depth += 1) {
      if (id === this.#session) return true;
      id = textOf(fieldsOf(await this.#bridge.request("GET", `/session/${encodeURIComponent(id)}`)).parentID);
    }
    return false;
  }

  /** Returns the input of the call that asks: a request contains only a part of it. */
  async #inputOf({ sessionID, messageID, callID }: AskedPermission): Promise<Fields> {
    if (messageID === undefined || callID === undefined) return {};
    const path = `/session/${encodeURIComponent(sessionID)}/message/${encodeURIComponent(messageID)}`;
    const { parts } = fieldsOf(await this.#bridge.request("GET", path));
    const part = Array.isArray(parts)
      ? parts.map(fieldsOf).find((one) => one.callID === callID && one.type === "tool")
      : undefined;
    return fieldsOf(fieldsOf(part?.state).input);
  }
}
