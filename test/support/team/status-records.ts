import { spawnSync } from "node:child_process";
import { ownIdentity } from "../../../src/os/process/identity.ts";
import type { ProcessIdentity } from "../../../src/schema/process-identity.ts";
import type { StatusRecord } from "../../../src/schema/status.ts";
import { NO_TOKENS } from "../../../src/schema/tokens.ts";

/** The status record of an agent whose process is this test. */
export function statusOf(fields: Partial<StatusRecord> = {}): StatusRecord {
  return {
    sessionId: "s",
    transcript: "/dev/null",
    process: ownIdentity(),
    state: "idle",
    activity: "",
    taskIds: [],
    tokens: NO_TOKENS,
    costUsd: 0,
    since: 1,
    startedAt: 1,
    lastActivityAt: 1,
    ...fields,
  };
}

/** Returns the identity of a process that has ended. */
export function deadProcess(): ProcessIdentity {
  const { pid } = spawnSync("true");
  return { ...ownIdentity(), pid, procStart: "1" };
}
