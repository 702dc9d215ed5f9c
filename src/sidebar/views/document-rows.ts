import type { SidebarData } from "../data.ts";
import type { Content, LineComment, Reader } from "../documents.ts";
import { diffDocument } from "./diff-view.ts";
import { helpDocument } from "./help-view.ts";
import { messagesDocument } from "./messages-view.ts";
import { type ReaderRow, row } from "./reader.ts";
import { spansOfStyled } from "./styled-spans.ts";
import { taskDocument } from "./task-view.ts";
import { teamsDocument } from "./teams-view.ts";
import { requestDocument } from "./whole-view.ts";

interface Scene {
  readonly data: SidebarData;
  readonly comments: readonly LineComment[];
  readonly width: number;
}

/** The last rows of each document, since a key needs the same rows as the drawing after it. */
const known = new WeakMap<Content, Scene & { readonly rows: readonly ReaderRow[] }>();

/** Returns the rows of a document, without the margin at its left; none while the document is being read. */
export function documentRows({ content }: Reader, scene: Scene): readonly ReaderRow[] {
  if (content === undefined) return [];
  const before = known.get(content);
  const isSame =
    before?.width === scene.width &&
    before.comments === scene.comments &&
    (content.kind !== "messages" || looksOf(before.data) === looksOf(scene.data));
  if (before !== undefined && isSame) return before.rows;
  const rows = rowsOf(content, scene);
  known.set(content, { ...scene, rows });
  return rows;
}

/** Returns the part of the data that changes the rows of messages: the colours of the members, and the day. */
function looksOf({ status, now }: SidebarData): string {
  const colors = status.members.map(({ name, color }) => [name, color]);
  return JSON.stringify([colors, now === undefined ? "" : new Date(now).toDateString()]);
}

function rowsOf(content: Content, { data, comments, width }: Scene): readonly ReaderRow[] {
  switch (content.kind) {
    case "request":
      return requestDocument(content.request, width);
    case "diff":
      return diffDocument(content.diff, comments, width);
    case "task":
      return taskDocument(content.task, width);
    case "messages":
      return messagesDocument(content.messages, data, width);
    case "log":
      return content.rows.map((text) => row(spansOfStyled(text)));
    case "teams":
      return teamsDocument(content.teams, width);
    case "help":
      return helpDocument();
  }
}
