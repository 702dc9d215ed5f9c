import { expect, test } from "vitest";
import { DocumentFeed } from "../../../src/sidebar/document-feed.ts";
import type { Content, OpenDocument, Source } from "../../../src/sidebar/documents.ts";

const HELP: Content = { kind: "help" };

function document(read: OpenDocument["read"]): OpenDocument {
  return { read, renews: "with-data", close: () => undefined };
}

/** A feed of these documents, and the sources of the contents that it has read. */
function feedOf(open: (source: Source) => OpenDocument) {
  const shown: Source[] = [];
  const feed = new DocumentFeed({
    open,
    read: (source) => void shown.push(source),
    failed: (_, error) => {
      throw error;
    },
  });
  return { feed, shown };
}

test("DocumentFeed › shows a document although the read of the previous one has not ended", async () => {
  const slow: Source = { kind: "diff", member: "ada" };
  const other: Source = { kind: "task", id: "1" };
  let end = (_content: Content): void => undefined;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const { feed, shown } = feedOf((source) =>
    document(() => {
      if (source === other) return HELP;
      begin();
      return new Promise<Content>((resolve) => {
        end = resolve;
      });
    }),
  );
  const opened = feed.open(slow, 80);
  await begun;
  await feed.open(other, 80);
  expect(shown).toEqual([other]);
  end(HELP);
  await opened;
  expect(shown).toEqual([other]);
});

test("DocumentFeed › reads a document once more if its data changes during a read", async () => {
  let reads = 0;
  let changed = async (): Promise<void> => undefined;
  const { feed, shown } = feedOf(() =>
    document(async () => {
      reads += 1;
      if (reads === 1) await changed();
      return HELP;
    }),
  );
  changed = () => feed.dataChanged();
  await feed.open({ kind: "task", id: "1" }, 80);
  expect([reads, shown.length]).toEqual([2, 2]);
});
