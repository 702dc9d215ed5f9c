import { ownSecrets, REDACTED, redactText } from "../../os/redact.ts";
import type { Caller } from "../caller.ts";

/** Notes that a secret in a sent text was redacted: its sender may think that the recipient has the secret now. */
export function noteRedacted(text: string, { note }: Pick<Caller["out"], "note">): void {
  if (redactText(text, ownSecrets()) === text) return;
  note(`A secret from your environment was replaced by ${REDACTED}: teams writes no secret to a file.`);
}
