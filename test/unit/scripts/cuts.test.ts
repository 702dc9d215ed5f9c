import { describe, expect, test } from "vitest";
import { textCuts } from "../../../scripts/lib/cut-gate.mjs";

const ROOT = "/samples";
const CONFIG = {
  compilerOptions: { lib: ["es2023"], types: [], strict: true, noEmit: true },
  include: ["src"],
};

/** Returns the violations that the gate reports for statements in a function of `file`, below some declarations. */
function cutsIn(body: string, file = "sample.ts"): string[] {
  const source = `
interface Buffer { toString(encoding?: string, start?: number, end?: number): string; }
const MAX = 40;
declare function sha256(text: string): string;
export function sample(text: string, list: readonly string[], bytes: Buffer, options: { maxRows: number }, length: number) {
${body}
}`;
  const files: Record<string, string> = {
    [`${ROOT}/tsconfig.json`]: JSON.stringify(CONFIG),
    [`${ROOT}/src/${file}`]: source,
  };
  const directories: Record<string, { files: string[]; directories: string[] }> = {
    [ROOT]: { files: ["tsconfig.json"], directories: ["src"] },
    [`${ROOT}/src`]: file.includes("/")
      ? { files: [], directories: ["text"] }
      : { files: [file], directories: [] },
    [`${ROOT}/src/text`]: { files: [file.replace("text/", "")], directories: [] },
  };
  const fs = {
    readFile: (path: string) => files[path],
    fileExists: (path: string) => (path in files ? true : undefined),
    directoryExists: (path: string) => (path in directories ? true : undefined),
    getAccessibleEntries: (path: string) => directories[path],
  };
  return textCuts({ config: `${ROOT}/tsconfig.json`, root: ROOT, fs });
}

describe("textCuts", () => {
  test("reports each text that is cut at a limit, with its line", () => {
    const cuts = [
      "text.slice(0, MAX)",
      "text.slice(0, 40)",
      "text.slice(-MAX)",
      "text.slice(-40)",
      "text.substring(0, MAX - 1)",
      "text.slice(0, options.maxRows)",
      "text.slice(0, Math.max(0, MAX - text.length))",
      "text.slice(0, length)",
      "list.join().slice(0, half)",
      "text.slice(MAX)",
      "bytes.toString('utf8').slice(0, MAX)",
      "(text + text).slice(0, MAX)",
    ];
    const found = cutsIn(["const half = Math.floor(MAX / 2);", ...cuts.map((cut) => `${cut};`)].join("\n"));
    expect(found).toEqual(
      cuts.map(
        (cut, i) =>
          `src/sample.ts:${i + 7}: ${cut} may cut a character in two; call textStart, textEnd or cutText.`,
      ),
    );
  });

  test("accepts cuts of lists and hashes, and cuts at found positions or known characters", () => {
    const fine = [
      "const at = text.indexOf(' ');",
      "const hash = sha256(text);",
      "list.slice(0, MAX);",
      "list.slice(-MAX);",
      "text.slice(0, at);",
      "text.slice(at + 1);",
      "text.slice(0, text.lastIndexOf('/') + 1);",
      "text.slice('prefix'.length);",
      "text.slice(0, -'suffix'.length);",
      "text.slice(2);",
      "text.slice(1, -1);",
      "text.slice(0, 2);",
      "hash.slice(0, 16);",
      "sha256(text).slice(8, 12);",
      "bytes.toString('hex').slice(0, 12);",
      "(7).toString(36).slice(-7);",
      "text.slice(0, list.length);",
    ];
    expect(cutsIn(fine.join("\n"))).toEqual([]);
  });

  test("reports pieces of a stream that are decoded one by one", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a sample
    const pieces = ["output += bytes.toString();", "output = `${output}${bytes.toString('utf8')}`;"];
    const fine = ["output += bytes.toString('latin1');", "const whole = bytes.toString('utf8');"];
    expect(cutsIn(["let output = '';", ...pieces, ...fine].join("\n"))).toEqual([
      "src/sample.ts:7: bytes.toString() decodes a piece of a stream; use OutputTail or a StringDecoder.",
      "src/sample.ts:8: bytes.toString('utf8') decodes a piece of a stream; use OutputTail or a StringDecoder.",
    ]);
  });

  test("accepts cuts in the file that defines these functions", () => {
    expect(cutsIn("text.slice(0, MAX);", "text/characters/cut-text.ts")).toEqual([]);
  });
});
