import { Readable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import { extract, type Header, pack } from "tar-stream";
import { exportTeam } from "../../../src/team/archive/export-team.ts";
import type { TeamRef } from "../../../src/team/ref.ts";

/** An archive entry of a test; defaults to a regular file. */
export interface TestEntry {
  readonly name: string;
  readonly text?: string;
  readonly header?: Partial<Header>;
}

/** Builds a `.tar.gz` of these entries. */
export async function packed(entries: readonly TestEntry[]): Promise<Buffer> {
  const tar = pack();
  for (const { name, text = "", header } of entries) tar.entry({ name, ...header }, text);
  tar.finalize();
  return gzipSync(await readAll(tar as unknown as AsyncIterable<Uint8Array>));
}

/** Returns the entries of a `.tar.gz` as text. */
export async function unpacked(bytes: Buffer): Promise<{ name: string; text: string }[]> {
  const tar = extract();
  tar.end(gunzipSync(bytes));
  const entries: { name: string; text: string }[] = [];
  for await (const entry of tar) {
    const text = await readAll(entry as unknown as AsyncIterable<Uint8Array>);
    entries.push({ name: entry.header.name, text: text.toString("utf8") });
  }
  return entries;
}

/** Builds an archive with a manifest that matches its files. */
export function archiveOf(
  team: string,
  files: readonly TestEntry[],
  manifest: Readonly<Record<string, unknown>> = {},
): Promise<Buffer> {
  const sizes = files.map(({ name, text = "" }) => ({ name, size: Buffer.byteLength(text) }));
  const text = JSON.stringify({ format: "tmux-teams", version: 1, team, at: 1, files: sizes, ...manifest });
  return packed([
    { name: `${team}/manifest.json`, text },
    ...files.map((file) => ({ ...file, name: `${team}/${file.name}` })),
  ]);
}

/** Exports a team as one complete archive. */
export async function exported(ref: TeamRef): Promise<Buffer> {
  return readAll((await exportTeam(ref)).bytes);
}

export function stream(bytes: Uint8Array): Readable {
  return Readable.from([bytes]);
}

export async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}
