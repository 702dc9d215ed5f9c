import type { Spent } from "../../agent/conversation/call-model.ts";
import { FollowedFile } from "../../os/files/followed-file.ts";
import { fileSize } from "../../os/files/fs.ts";
import { failureIn } from "../gemini-texts.ts";
import { countOf, type Fields, fieldsIn, fieldsOf } from "../reported-values.ts";

/** Events that only Gemini's conversation record reports. */
interface RecordEvents {
  /** A text of the model. */
  said(text: string): void;
  spent(spent: Spent): void;
  toolEnded(
    call: { readonly tool: string; readonly input: Fields; readonly status: string },
    result: string,
  ): void;
  /** A person or an interrupt cancelled the turn. */
  cancelled(): void;
  /** The model's server returned an error instead of an answer. */
  turnFailed(why: string): void;
}

/**
 * Follows Gemini's conversation record, a file of JSON lines. Gemini appends each message, and later repeats it with its tokens and
 * call results. Reports only lines that are appended after `open`.
 */
export class GeminiRecord {
  readonly #events: RecordEvents;
  /** Keys of the texts, tokens and call results that were reported. */
  readonly #reported = new Set<string>();
  #path = "";
  #file: FollowedFile | undefined;

  constructor(events: RecordEvents) {
    this.#events = events;
  }

  /** Follows another record: a person can begin a new conversation, or resume an old one. Ignores the current path. */
  open(path: string): void {
    if (path === this.#path) return;
    this.close();
    this.#path = path;
    this.#file = new FollowedFile(path, (line) => this.#onLine(line), fileSize(path) ?? 0);
    this.#file.follow();
  }

  /** Reads new lines now, so that their events precede the hook's event. */
  read(): void {
    this.#file?.read();
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #onLine(line: string): void {
    const message = fieldsIn(line);
    const { id, type, content } = message;
    if (typeof id !== "string") return;
    if (type === "gemini") this.#onMessage(id, message);
    else if (type === "info" && content === "Request cancelled.")
      this.#report(id, () => this.#events.cancelled());
    else if (type === "error" && typeof content === "string")
      this.#report(id, () => this.#events.turnFailed(failureIn(content) ?? content));
  }

  #onMessage(id: string, { content, tokens, toolCalls }: Fields): void {
    const spent = spentOf(tokens);
    if (spent !== undefined) this.#report(`${id} tokens`, () => this.#events.spent(spent));
    if (typeof content === "string" && content !== "")
      this.#report(`${id} text`, () => this.#events.said(content));
    for (const { id: call, name, args, status, result } of Array.isArray(toolCalls)
      ? toolCalls.map(fieldsOf)
      : []) {
      if (typeof name !== "string" || typeof status !== "string" || !ENDED.includes(status)) continue;
      const ended = { tool: name, input: fieldsOf(args), status };
      this.#report(`call ${String(call)}`, () => this.#events.toolEnded(ended, textOf(result)));
    }
  }

  #report(key: string, report: () => void): void {
    if (this.#reported.has(key)) return;
    this.#reported.add(key);
    report();
  }
}

const ENDED = ["success", "error", "cancelled"];

/** Returns the text of a call's result, as the model reads it. */
function textOf(result: unknown): string {
  const parts = Array.isArray(result) ? result.map(fieldsOf) : [];
  const texts = parts.map(({ functionResponse }) => fieldsOf(fieldsOf(functionResponse).response));
  return texts.map(({ output, error }) => String(output ?? error ?? "")).join("\n");
}

function spentOf(tokens: unknown): Spent | undefined {
  const { input, output, cached, thoughts } = fieldsOf(tokens);
  const [all = 0, said = 0, cacheRead = 0, thought = 0] = [input, output, cached, thoughts].map(countOf);
  if (all + said + thought === 0) return undefined;
  return {
    usage: { input: Math.max(0, all - cacheRead), output: said + thought, cacheRead, cacheWrite: 0 },
    costUsd: 0,
  };
}
