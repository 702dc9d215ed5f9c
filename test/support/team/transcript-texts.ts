import { existsSync, readFileSync } from "node:fs";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";

/** Lists the texts of an agent's answers, from the complete lines of its transcript. */
export function transcriptTexts(ref: TeamRef, name: string): string[] {
  const transcript = readStatus(ref, name)?.transcript ?? "";
  if (!existsSync(transcript)) return [];
  return readFileSync(transcript, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((text) => JSON.parse(text))
    .flatMap(({ type, message }) =>
      type === "assistant" ? message.content.map(({ text }: { text: string }) => text) : [],
    );
}
