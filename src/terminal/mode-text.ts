import type { PeerAnswer } from "../operations/peer-mode.ts";
import { peerTitle } from "../team/members/peer-abilities.ts";
import { line } from "./output.ts";

/** claude drops the message without an answer (interop.md). */
export const UNKNOWN_ANSWER =
  "claude may ignore the mode change: versions up to 2.1.200 accept it, versions since 2.1.250 do not, and this version is unknown or in between.";

/**
 * Returns a sentence: a member has a mode, or was asked to change to it.
 * @param peer what a program that reads its inbox itself does with the change; undefined for teams' own agent
 */
export function modeSentence(
  { name, mode }: { readonly name: string; readonly mode: string },
  peer: PeerAnswer | undefined,
): string {
  if (peer === undefined) return line`${name} is now in mode ${mode}.`;
  const asked = line`${name} was asked to change to mode ${mode}.`;
  return peer.takes === "yes"
    ? line`${asked} ${peerTitle(peer.version)} accepts mode changes.`
    : `${asked} ${UNKNOWN_ANSWER}`;
}
