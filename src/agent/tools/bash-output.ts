import { StringDecoder } from "node:string_decoder";
import { characterCount, textEnd, textStart } from "../../text/characters/cut-text.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { MAX_CHARACTERS, newOutputFile, type OutputFile } from "../background/output-file.ts";

/** Maximum characters that the model gets; longer output is written to a file. */
const MAX_SHOWN = 30_000;
/** Maximum characters of each stream that playbooks get. */
const MAX_KEPT = 100_000;
/** Maximum characters of the tail, which a pane shows while the command runs. */
const MAX_TAIL = 2_000;

/** Collects the output of a command: its start for the model, and the whole output in a private file if that is too long. */
export class CommandOutput {
  private readonly decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  private readonly texts = { stdout: "", stderr: "" };
  private readonly file: OutputFile;
  private total = 0;
  private characters = 0;
  private newest = "";

  /** @param secrets values to redact in the file (`secretsOf`) */
  constructor(cwd: string, secrets: readonly string[]) {
    this.file = newOutputFile(cwd, secrets);
  }

  readonly add = (stream: "stdout" | "stderr", bytes: Buffer): void => {
    const text = this.decoders[stream].write(bytes);
    this.newest = textEnd(this.newest + text, MAX_TAIL);
    const wasShort = this.total <= MAX_SHOWN;
    this.total += text.length;
    this.characters += characterCount(text);
    if (this.total > MAX_SHOWN) {
      // From here on the file has all output; the streams are interleaved only after this point.
      if (wasShort)
        for (const earlier of ["stdout", "stderr"] as const) this.file.add(earlier, this.texts[earlier]);
      this.file.add(stream, text);
    }
    this.texts[stream] += textStart(text, MAX_KEPT - this.texts[stream].length);
  };

  /** The end of both streams, in the order of arrival. */
  get tail(): string {
    return this.newest;
  }

  /** Returns the output for the model after the command has ended: stdout, then stderr, truncated if too long. */
  shown(): string {
    const whole = [this.texts.stdout, this.texts.stderr]
      // Escape sequences for colours and the cursor mean nothing to a model.
      .map((text) => stripControls(text).trimEnd())
      .filter((text) => text !== "")
      .join("\n");
    if (this.total <= MAX_SHOWN) return whole;
    this.file.end();
    const { problem, path, newest } = this.file;
    const saved = newest === undefined ? "the whole output is" : `the first ${MAX_CHARACTERS} are`;
    const rest = problem === undefined ? `${saved} in ${path}` : `the rest could not be saved: ${problem}`;
    return `${textStart(whole, MAX_SHOWN)}\n… (${this.characters} characters in all; ${rest})`;
  }

  /** Returns both streams as values, for playbooks. */
  kept(): { readonly stdout: string; readonly stderr: string } {
    return { ...this.texts };
  }
}
