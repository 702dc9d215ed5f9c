import { type Liveness, livenessOf } from "../os/identity.ts";
import { readExit, readStatus } from "./records.ts";
import type { TeamRef } from "./ref.ts";

/**
 * Whether an agent runs: its own process, or the one that it lives in, unless it has ended there. Undefined for one that
 * has said nothing.
 */
export function livenessOfAgent(
  ref: TeamRef,
  agent: string,
  status = readStatus(ref, agent),
): Liveness | undefined {
  if (status === undefined) return undefined;
  const hasEnded = status.shared === true && readExit(ref, agent)?.instance === status.instance;
  return hasEnded ? "dead" : livenessOf(status.process);
}
