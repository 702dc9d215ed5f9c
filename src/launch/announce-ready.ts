import type { AgentPaths } from "../protocol/paths.ts";
import type { RingResult } from "../wakeup/bell.ts";
import { ring } from "../wakeup/fifo-bell.ts";

/**
 * Announces readiness to the spawning process. Call it after `status.json` is written, the inbox is watched and the agent can be
 * interrupted. A separate file, so that an agent does not load `await-ready.ts` with its schemas before it is ready.
 */
export function announceReady(paths: AgentPaths): RingResult {
  return ring(paths.ready);
}
