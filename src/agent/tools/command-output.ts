import { createHash } from "node:crypto";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { ensureOwnDirectory, scratchDirectory } from "../../os/directories.ts";
import { appendDurably, ensureDir } from "../../os/fs.ts";

/** Characters that a model reads; the whole stands in a file. */
const MAX_SHOWN = 30_000;
/** Characters of each stream that are kept as a value. */
const MAX_KEPT = 100_000;
/** Characters that go into the file, so that a command that prints for ever fills no disk. */
const MAX_FILE = 64 * 1024 * 1024;

/** What a command prints, as it comes: its start for the model, and everything in a private file once that is cut. */
export class CommandOutput {
  private readonly decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  private readonly texts = { stdout: "", stderr: "" };
  private readonly file: string;
  private total = 0;
  private filed = 0;

  constructor(cwd: string, toolUseId: string) {
    this.file = outputFile(cwd, toolUseId);
  }

  readonly add = (stream: "stdout" | "stderr", bytes: Buffer): void => {
    const text = this.decoders[stream].write(bytes);
    if (this.filed === 0 && this.total + text.length > MAX_SHOWN) {
      // From here on the file has it all, both streams as they came after this point.
      this.toFile(this.texts.stdout + this.texts.stderr);
    }
    this.total += text.length;
    if (this.filed > 0) this.toFile(text);
    this.texts[stream] += text.slice(0, Math.max(0, MAX_KEPT - this.texts[stream].length));
  };

  /** stdout, then stderr, cut where it gets too long for a model. */
  shown(): string {
    const whole = [this.texts.stdout, this.texts.stderr]
      .map((text) => text.replace(/\s+$/, ""))
      .filter((text) => text !== "")
      .join("\n");
    if (this.filed === 0 && whole.length <= MAX_SHOWN) return whole;
    return `${whole.slice(0, MAX_SHOWN)}\n… (${this.total} characters in all; the whole output is in ${this.file})`;
  }

  /** Both streams as values, for playbooks. */
  kept(): { readonly stdout: string; readonly stderr: string } {
    return { ...this.texts };
  }

  private toFile(text: string): void {
    if (this.filed === 0) {
      ensureOwnDirectory(scratchDirectory());
      ensureDir(join(this.file, ".."));
    }
    const part = text.slice(0, Math.max(0, MAX_FILE - this.filed));
    if (part !== "") appendDurably(this.file, part, false);
    this.filed += part.length;
  }
}

/** `<scratch>/<cwd with / as ->/tasks/<id>.output`; an id that a server made up reaches no path as it is. */
function outputFile(cwd: string, id: string): string {
  const place = cwd.replaceAll("/", "-");
  const short = place.length <= 200 ? place : `${place.slice(0, 180)}-${hash(cwd)}`;
  const name = /^[A-Za-z0-9_-]{1,100}$/.test(id) ? id : hash(id);
  return join(scratchDirectory(), short, "tasks", `${name}.output`);
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
