import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Recording } from "../../../src/casts/recording.ts";
import { checkCast } from "../../support/casts/check-cast.ts";
import { recordingOf } from "../../support/casts/recording.ts";
import { TEAMS } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";

describe("the recorder process", () => {
  /** Runs the built recorder in a shell. @returns its exit status */
  async function recorder(
    recording: Recording,
    before: string,
    write: (stdin: NodeJS.WritableStream) => void,
  ) {
    const words = [
      "-c",
      `${before}; exec "$@"`,
      "sh",
      process.execPath,
      TEAMS,
      "record-pane",
      JSON.stringify(recording),
    ];
    const child = spawn("/bin/sh", words, { stdio: ["pipe", "ignore", "pipe"] });
    // The recorder ends before it has read everything.
    child.stdin.on("error", () => undefined);
    write(child.stdin);
    return new Promise<number | null>((resolve) => child.once("exit", resolve));
  }

  it("ends with whole lines when the file cannot grow", async () => {
    const { recording } = await recordingOf();
    const code = await recorder(recording, "ulimit -f 16", (stdin) => {
      for (let i = 0; i < 50; i += 1) stdin.write(`${i} ${"x".repeat(1000)}\n`);
      stdin.end();
    });
    expect(code).toBe(0);
    const { output, header } = checkCast(recording.path);
    expect(header.width).toBe(80);
    expect(statSync(recording.path).size).toBeLessThanOrEqual(16 * 1024);
    expect(output === "" || output.startsWith("0 x")).toBe(true);
  });

  it("uses no CPU time while the pane is idle", async () => {
    const { recording } = await recordingOf();
    const child = spawn(process.execPath, [TEAMS, "record-pane", JSON.stringify(recording)], {
      stdio: ["pipe", "ignore", "ignore"],
    });
    child.stdin.write("ready");
    await eventually("the output", () => readFileSync(recording.path, "utf8").includes("ready"));
    const switches = (): number =>
      Number(
        /^voluntary_ctxt_switches:\s*(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1],
      );
    let idle = { switches: -1, since: 0 };
    await eventually("two idle seconds", () => {
      const now = switches();
      if (now !== idle.switches) idle = { switches: now, since: performance.now() };
      return performance.now() - idle.since > 2_000;
    });
    child.stdin.end();
    await new Promise((resolve) => child.once("exit", resolve));
  });
});
