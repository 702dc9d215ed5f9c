import { mkdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { withDebugLog } from "../../../src/runtime/debug-view.ts";
import { reportEventFailures } from "../../../src/runtime/event-failures.ts";
import { teamRef } from "../../../src/team/ref.ts";
import { openDebugLog } from "../../../src/telemetry/debug-log.ts";
import { recordEvent } from "../../../src/telemetry/event-log.ts";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { NO_VIEW } from "../../support/worker/empty-view.ts";

const ON = { TEAMS_DEBUG: "1" };

function open(env: Readonly<Record<string, string>> = ON, sessionId = "s-1", root = temporaryDirectory()) {
  const problems: unknown[] = [];
  const problem = (error: unknown): void => void problems.push(error);
  return { log: openDebugLog({ root, sessionId, env, problem }), root, problems };
}

describe("debug log", () => {
  it("is written only if TEAMS_DEBUG is set, readable only by its owner, with a link to the latest", () => {
    expect([open({}).log, open({ TEAMS_DEBUG: "0" }).log]).toEqual([undefined, undefined]);
    const { log, root } = open();
    log?.note("first\nof two lines");
    open(ON, "s-2", root).log?.note("second");
    const file = join(root, "debug", "s-1.txt");
    expect(readFileSync(file, "utf8")).toMatch(
      /^\S+Z agent started with session s-1\n\d{4}-\d\d-\d\dT[\d:.]+Z first of two lines\n$/,
    );
    expect([statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readlinkSync(join(root, "debug", "latest"))).toBe("s-2.txt");
  });

  it("contains no secret, not even a truncated one at the end of a line (S75)", () => {
    const { log } = open({ ...ON, API_KEY: "sesame-open-wide" });
    log?.note(`${"x".repeat(1_990)}sesame-open-wide`);
    expect(readFileSync(log?.path ?? "", "utf8")).not.toContain("sesame");
  });

  it("never fails, and reports a write error once", () => {
    const { log, problems } = open();
    rmSync(log?.path ?? "");
    mkdirSync(log?.path ?? "");
    log?.note("one");
    log?.note("two");
    expect(problems).toHaveLength(1);
  });

  it("records that events cannot be written", () => {
    const root = temporaryDirectory();
    const view = withDebugLog(NO_VIEW, { root, sessionId: "s", env: ON });
    const ref = teamRef({ root, runtime: root }, "crew");
    mkdirSync(ref.paths.events, { recursive: true });
    reportEventFailures(ref, (text) => view.note(text));
    recordEvent(ref, { type: "idle", reason: "available" });
    expect(readFileSync(join(root, "debug", "s.txt"), "utf8")).toContain("events cannot be written: EISDIR");
  });
});
