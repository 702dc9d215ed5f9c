import { StringDecoder } from "node:string_decoder";
import { stripControls } from "../../text/terminal-text.ts";
import { MAX_CHARACTERS, OutputFile } from "../background/output-file.ts";

/** Characters that a model reads; the whole stands in a file. */
const MAX_SHOWN = 30_000;
/** Characters of each stream that are kept as a value. */
const MAX_KEPT = 100_000;

/** What a command prints, as it comes: its start for the model, and everything in a private file once that is cut. */
export class CommandOutput {
  private readonly decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  private readonly texts = { stdout: "", stderr: "" };
  private readonly file: OutputFile;
  private total = 0;

  /** @param secrets values that are masked in the file (`secretsOf`) */
  constructor(cwd: string, toolUseId: string, secrets: readonly string[]) {
    this.file = new OutputFile(cwd, toolUseId, secrets);
  }

  readonly add = (stream: "stdout" | "stderr", bytes: Buffer): void => {
    const text = this.decoders[stream].write(bytes);
    const wasShort = this.total <= MAX_SHOWN;
    this.total += text.length;
    if (this.total > MAX_SHOWN) {
      // From here on the file has it all, both streams as they came after this point.
      if (wasShort)
        for (const earlier of ["stdout", "stderr"] as const) this.file.add(earlier, this.texts[earlier]);
      this.file.add(stream, text);
    }
    this.texts[stream] += text.slice(0, Math.max(0, MAX_KEPT - this.texts[stream].length));
  };

  /** All of it, once the command has ended: stdout, then stderr, cut where it gets too long for a model. */
  shown(): string {
    const whole = [this.texts.stdout, this.texts.stderr]
      // What colours words and moves a cursor says nothing to a model.
      .map((text) => stripControls(text).trimEnd())
      .filter((text) => text !== "")
      .join("\n");
    if (this.total <= MAX_SHOWN) return whole;
    this.file.end();
    const { flaw, path, newest } = this.file;
    const what = newest === undefined ? "the whole output" : `the first ${MAX_CHARACTERS} of it`;
    const rest = flaw === undefined ? `${what} is in ${path}` : `the rest could not be kept: ${flaw}`;
    return `${whole.slice(0, MAX_SHOWN)}\n… (${this.total} characters in all; ${rest})`;
  }

  /** Both streams as values, for playbooks. */
  kept(): { readonly stdout: string; readonly stderr: string } {
    return { ...this.texts };
  }
}
