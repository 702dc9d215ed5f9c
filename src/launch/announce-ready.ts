import type { AgentPaths } from "../protocol/paths.ts";
import type { RingResult } from "../wakeup/bell.ts";
import { ring } from "../wakeup/fifo-bell.ts";

/** The child's word, after its `status.json` stands: it is there, its inbox is watched, it can be interrupted. */
export function announceReady(paths: AgentPaths): RingResult {
  return ring(paths.ready);
}
