import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { outputDirectory } from "../../../../src/agent/background/output-file.ts";
import { MAX_IDLE_RESULT } from "../../../../src/protocol/messages.ts";
import { noticeResult } from "../../../../src/worker/reports/notice-result.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const ROCKET = "🚀";
const LONGEST = "x".repeat(MAX_IDLE_RESULT);

describe("the last text of an agent in its idle notice", () => {
  let leadDirectory: string;
  /** The parent of the output directory for the lead's directory. */
  let output: string;

  beforeEach(() => {
    leadDirectory = temporaryDirectory();
    output = dirname(outputDirectory(leadDirectory));
    onTestFinished(() => rmSync(output, { recursive: true, force: true }));
  });

  it("is complete up to the limit, without reading the team or writing a file", () => {
    expect(noticeResult(LONGEST, () => expect.fail("noticeResult must not read the team"))).toBe(LONGEST);
    expect(existsSync(output)).toBe(false);
  });

  it("is truncated between characters above the limit, and names a private file with the whole text", () => {
    const text = `${LONGEST.slice(1)}${ROCKET} the end`;
    const [, file = ""] = /Read all of it in (\S+)\)$/.exec(noticeResult(text, () => leadDirectory)) ?? [];
    expect(noticeResult(text, () => leadDirectory)).toMatch(/^x{29999}\n… \(9 more characters\. Read all/);
    expect(dirname(file)).toBe(outputDirectory(leadDirectory));
    expect(readFileSync(file, "utf8")).toBe(text);
  });

  it("says why the rest is missing if the file cannot be written", () => {
    mkdirSync(dirname(output), { recursive: true, mode: 0o700 });
    writeFileSync(output, "a file in its place");
    expect(noticeResult(`${LONGEST}yy`, () => leadDirectory)).toMatch(
      /^x{30000}\n… \(2 more characters\. The rest could not be saved: E[A-Z]+/,
    );
  });
});
