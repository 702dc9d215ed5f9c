import { randomBytes } from "node:crypto";

// Request ids in the forms that every program accepts (interop.md). `now` is in milliseconds.

export function shutdownRequestId(agent: string, now: number): string {
  return `shutdown-${now}@${agent}`;
}

export function planRequestId(agent: string, team: string, now: number): string {
  return `plan_approval-${now}@${agent}@${team}`;
}

export function permissionRequestId(now: number, random: (bytes: number) => Buffer = randomBytes): string {
  return `perm-${now}-${lowercase(random(7), 7)}`;
}

export function questionRequestId(agent: string, now: number): string {
  return `question-${now}@${agent}`;
}

/** *Ours*: id of a crash, which a person answers like a request. @param start when the crashed instance was started */
export function crashId(agent: string, start: number): string {
  return `crash-${start}@${agent}`;
}

export function isCrashId(id: string): boolean {
  return /^crash-\d+@/.test(id);
}

/** Whether a text begins like a request id, in which an agent's name follows the @; in an address, a team's name follows. */
export function isAgentsRequestId(text: string): boolean {
  return /^[a-z_]+-\d+@/.test(text);
}

/** Returns the agent that the id of a plan, a question or a crash names; undefined for another id. */
export function agentInRequestId(id: string): string | undefined {
  return /^[a-z_]+-\d+@([^@]+)/.exec(id)?.[1];
}

function lowercase(bytes: Buffer, length: number): string {
  const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
  return [...bytes.subarray(0, length)].map((byte) => alphabet[byte % alphabet.length]).join("");
}
