import { expect, test } from "vitest";
import type { SidebarData } from "../../../../src/sidebar/data.ts";
import type { Content, LineComment, Reader } from "../../../../src/sidebar/documents.ts";
import { documentRows } from "../../../../src/sidebar/views/document-rows.ts";
import type { ReaderRow } from "../../../../src/sidebar/views/reader.ts";
import { AUDIT } from "../../../support/sidebar/sidebar-data.ts";

test("documentRows › lays messages out again only for other colours of the members, or another day", () => {
  const messages = [{ from: "history", to: "writer", text: "Done.", at: 0 }];
  const content: Content = { kind: "messages", messages, own: "team-lead" };
  const source = { kind: "messages", member: "history" } as const;
  const reader: Reader = { source, content, top: "end", cursor: 0, back: "team" };
  const comments: readonly LineComment[] = [];
  const rows = (data: SidebarData): readonly ReaderRow[] =>
    documentRows(reader, { data, comments, width: 40 });
  const { status } = AUDIT;
  const first = rows({ ...AUDIT, now: 0 });
  expect(rows({ ...AUDIT, status: { ...status, approvals: [] }, now: 1 })).toBe(first);
  const members = status.members.map((member) => ({ ...member, color: "red" }));
  const red = rows({ ...AUDIT, status: { ...status, members }, now: 0 });
  expect(red).not.toBe(first);
  expect(rows({ ...AUDIT, status: { ...status, members }, now: 172_800_000 })).not.toBe(red);
});
