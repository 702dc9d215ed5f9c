import type { Socket } from "node:net";
import { join } from "node:path";
import { writeNew } from "../../os/files/fs.ts";
import { createSocketDirectory, listenLocally } from "../../os/net/local-server.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";
import { shellQuote } from "../../text/shell-quote.ts";
import { fieldsOf } from "../reported-values.ts";

/** Gemini's hook events that `teams` handles. `BeforeTool` decides on a call, and `AfterAgent` can continue a turn. */
const GEMINI_HOOKS = ["SessionStart", "BeforeAgent", "AfterAgent", "BeforeTool", "Notification"] as const;
export type GeminiHook = (typeof GEMINI_HOOKS)[number];

/** A hook for Gemini's settings. */
export interface GeminiHookCommand {
  readonly event: GeminiHook;
  /** Shown on Gemini's screen while the hook runs. */
  readonly name: string;
  /** Command line for a shell. */
  readonly command: string;
}

/**
 * @param hookEnded aborts when the hook has ended
 * @returns the hook's answer for Gemini; undefined lets Gemini continue unchanged
 */
type AnswerGeminiHook = (
  event: GeminiHook,
  input: Readonly<Record<string, unknown>>,
  hookEnded: AbortSignal,
) => Promise<object | undefined>;

/** Names that Gemini's screen shows while a hook runs. */
const SCREEN_LABELS: Readonly<Record<GeminiHook, string>> = {
  SessionStart: "teams",
  BeforeAgent: "teams",
  AfterAgent: "teams: next message",
  BeforeTool: "teams: waiting for your answer (teams approvals)",
  Notification: "teams",
};

/** Maximum size of an event in bytes; a larger call is refused. */
const MAX_INPUT = 32 * 1024 * 1024;
const NEWLINE = 10;
/** The reason for the model if this process does not answer. */
const REFUSED = "The call was refused because teams did not answer. Stop, and tell the user.";

/**
 * Source of the hook program, plain JavaScript. It sends Gemini's event to our socket and prints the answer. Without a complete
 * answer it exits with 1, which Gemini shows as a warning: after 2, it would repeat a turn that has ended, or drop a prompt.
 */
const CLIENT = `
import { connect } from "node:net";
let input = "";
for await (const text of process.stdin.setEncoding("utf8")) input += text;
let answer = "";
process.exitCode = 1;
const socket = connect(SOCKET, () => socket.write(process.argv[2] + " " + input.replaceAll("\\n", " ") + "\\n"));
socket.setEncoding("utf8");
socket.on("error", () => undefined);
socket.on("data", (text) => {
  answer += text;
  if (!answer.endsWith("\\n")) return;
  process.exitCode = 0;
  process.stdout.write(answer);
  socket.end();
});
`;

/** Answers Gemini's hooks over a private socket, with one connection for each running hook. */
export class GeminiHookServer {
  readonly #answer: AnswerGeminiHook;
  #close: () => void = () => undefined;

  constructor(answer: AnswerGeminiHook) {
    this.#answer = answer;
  }

  /**
   * @param directory gets the hook program
   * @returns the hooks for Gemini's settings
   */
  async listen(directory: string): Promise<readonly GeminiHookCommand[]> {
    const place = createSocketDirectory();
    this.#close = await listenLocally(place, (socket) => this.#onConnection(socket));
    const client = join(directory, "hook.mjs");
    writeNew(client, `const SOCKET = ${JSON.stringify(place.path)};${CLIENT}`, undefined, false);
    return GEMINI_HOOKS.map((event) => {
      const words = [process.execPath, client, event].map(shellQuote).join(" ");
      // A call without an answer is refused, even if the program is killed: Gemini needs exit code 2 and a text on stderr.
      const refuses = event === "BeforeTool" ? ` || { echo ${shellQuote(REFUSED)} >&2; exit 2; }` : "";
      return { event, name: SCREEN_LABELS[event], command: `${words}${refuses}` };
    });
  }

  close(): void {
    this.#close();
  }

  #onConnection(socket: Socket): void {
    const hookEnded = new AbortController();
    socket.once("close", () => hookEnded.abort(new Error("The hook has ended.")));
    const chunks: Buffer[] = [];
    let size = 0;
    socket.on("data", (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > MAX_INPUT) socket.destroy();
      else if (chunk.at(-1) === NEWLINE)
        this.#onEvent(Buffer.concat(chunks).toString("utf8"), socket, hookEnded.signal);
    });
  }

  #onEvent(text: string, socket: Socket, hookEnded: AbortSignal): void {
    this.#reply(text, hookEnded).then(
      (answer) => socket.end(`${JSON.stringify(wellFormed(answer ?? {}))}\n`),
      // Without an answer, the hook of a call refuses it.
      () => socket.destroy(),
    );
  }

  async #reply(text: string, hookEnded: AbortSignal): Promise<object | undefined> {
    const at = text.indexOf(" ");
    const name = text.slice(0, at);
    const event = GEMINI_HOOKS.find((one) => one === name);
    if (event === undefined) throw new Error(`unknown event ${name}`);
    return this.#answer(event, fieldsOf(JSON.parse(text.slice(at))), hookEnded);
  }
}
