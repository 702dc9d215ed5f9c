import { transcriptLine } from "../../agent/conversation/transcript.ts";
import { startOfLastLines } from "../../os/files/lines.ts";
import { parseJsonLine, readTextLines } from "../../store/jsonl.ts";
import { conversationPath } from "../../team/records/conversation-path.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { conversationLog } from "../../terminal/conversation-log.ts";
import type { PaneView } from "../../terminal/pane/pane-view.ts";

/** Lines that are read from a conversation's file: more than a screen shows. */
const LINES = 60;

/** Shows the end of an agent's conversation in its pane, as much as fits. Shows nothing before the first turn. */
export function showRecent(view: PaneView, ref: TeamRef, name: string): void {
  const status = readStatus(ref, name);
  if (status === undefined) return;
  const file = conversationPath(ref, status);
  const start = startOfLastLines(file, LINES);
  const read = readTextLines(file, start).texts.flatMap(parseJsonLine(transcriptLine));
  const lines = read.slice(read.findLastIndex((line) => line.type === "compacted" && line.cleared) + 1);
  view.replay((shown) =>
    conversationLog({
      ...shown,
      // The pane has never shown text that is only for the model.
      note: (text) => (FOR_THE_MODEL.test(text) ? undefined : shown.note(text)),
    })(lines),
  );
}

const FOR_THE_MODEL = /^\[.*\]$/s;
