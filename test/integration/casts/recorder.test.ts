import { spawn } from "node:child_process";
import { readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createCast } from "../../../src/casts/cast-files.ts";
import { endSequence } from "../../../src/casts/end-sequence.ts";
import { recordPane } from "../../../src/casts/recorder.ts";
import { sendMessage } from "../../../src/team/mailbox/send.ts";
import { checkCast } from "../../support/casts/check-cast.ts";
import { recordingOf } from "../../support/casts/recording.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { eventually } from "../../support/timing/eventually.ts";

async function* bytes(...parts: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === "string" ? Buffer.from(part) : part;
}

describe("recordPane", () => {
  it("writes a valid recording, even if characters are split between two reads", async () => {
    const { recording } = await recordingOf();
    const word = Buffer.from("grün 漢");
    const pieces = [word.subarray(0, 3), word.subarray(3, 8), word.subarray(8)];
    expect(await recordPane(bytes(...pieces, "\x1b[0m\u2028", Buffer.from([0xff, 0xe6])), recording)).toBe(
      "pane ended",
    );
    const { output } = checkCast(recording.path);
    expect(output).toBe("grün 漢\x1b[0m\u2028\ufffd\ufffd");
    expect(statSync(recording.path).mode & 0o777).toBe(0o600);
    expect(statSync(join(recording.path, "..")).mode & 0o777).toBe(0o700);
  });

  it("marks each message to the agent, on one line without control characters", async () => {
    const { ref, recording } = await recordingOf();
    await sendMessage(ref, { from: "team-lead", to: "dev", text: "before it starts" });
    async function* input(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("a");
      await sendMessage(ref, { from: "team-lead", to: "dev", text: "first\x1b[31m line\nsecond line" });
      await sendMessage(ref, { from: "dev", to: "team-lead", text: "not to it" });
      await eventually("the marker", () => readFileSync(recording.path, "utf8").includes("first line"));
      yield Buffer.from("b");
    }
    await recordPane(input(), recording);
    expect(checkCast(recording.path).markers).toEqual([
      "team-lead: before it starts",
      "team-lead: first line",
    ]);
  });

  it("marks a message that the agent received before its recorder ran, but no message from before the recording", async () => {
    const { ref, recording } = await recordingOf();
    const line = (id: string, at: number, state: string, text?: string): string => {
      const message = { from: "team-lead", text, timestamp: "2026-01-01T00:00:00.000Z", read: false };
      return `${JSON.stringify({ at, id, to: "dev", state, ...(text === undefined ? {} : { message }) })}\n`;
    };
    const { startedAt } = recording;
    const lines = [
      line("a", 1, "queued", "an old one"),
      line("b", 1, "queued", "the prompt"),
      line("a", startedAt - 1, "delivered"),
      line("b", startedAt, "delivered"),
    ];
    writeFileSync(ref.paths.journal, lines.join(""));
    await recordPane(bytes("x"), recording);
    expect(checkCast(recording.path).markers).toEqual(["team-lead: the prompt"]);
  });

  it("does not record what follows the end of an agent in a user's pane", async () => {
    const { recording } = await recordingOf({ owner: { pid: process.pid, word: "secret" } });
    const end = endSequence("secret");
    await recordPane(
      bytes("a\x1b]7773", ";other\x07b", end.slice(0, 9), `${end.slice(9)}$ shell`, "more"),
      recording,
    );
    expect(checkCast(recording.path).output).toBe("a\x1b]7773;other\x07b");
  });

  it("ends at the first output after the death of an agent in a user's pane", async () => {
    const agent = spawn("cat");
    const { recording } = await recordingOf({ owner: { pid: agent.pid ?? 0, word: "secret" } });
    async function* input(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("agent");
      agent.kill("SIGKILL");
      await new Promise((resolve) => agent.once("exit", resolve));
      yield Buffer.from("$ shell");
    }
    await recordPane(input(), recording);
    expect(checkCast(recording.path).output).toBe("agent");
  });

  it("ends with a marker at its maximum size", async () => {
    const { recording } = await recordingOf();
    const end = await recordPane(bytes("x".repeat(500), "y".repeat(500), "z"), recording, 800);
    const why = "the recording has reached its maximum size";
    expect(end).toEqual({ why });
    const { output, markers } = checkCast(recording.path);
    expect([output, markers]).toEqual(["x".repeat(500), [`recording ended: ${why}`]]);
  });

  it("does not follow a link in place of its file", async () => {
    const { recording } = await recordingOf();
    const target = join(temporaryDirectory(), "target");
    writeFileSync(target, "mine\n");
    const path = join(temporaryDirectory(), "dev.cast");
    symlinkSync(target, path);
    await expect(recordPane(bytes("x"), { ...recording, path })).rejects.toThrow(/ELOOP/);
    expect(readFileSync(target, "utf8")).toBe("mine\n");
  });
});

describe("createCast", () => {
  it("gives each start of an agent a separate file, and never touches an existing one", () => {
    const directory = temporaryDirectory();
    const header = { version: 2, width: 80, height: 24 } as const;
    const create = (name: string): string => createCast(directory, name, header);
    writeFileSync(join(directory, "ada.7.cast"), "mine");
    expect(
      [create("ada"), create("ada"), create("ada-2"), create("a.b")].map((path) =>
        path.slice(directory.length),
      ),
    ).toEqual(["/ada.8.cast", "/ada.9.cast", "/ada-2.cast", "/a%2Eb.cast"]);
  });
});
