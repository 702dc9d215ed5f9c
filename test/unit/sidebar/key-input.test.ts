import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { KeyInput } from "../../../src/sidebar/key-input.ts";

test.each([
  ["keys around a paste in parts", ["j\x1b[200~one\r", "two\x1b[20", "1~k"], ["j", "pasted: one\rtwo", "k"]],
  [
    "keys and pastes of one piece in order",
    ["jc\x1b[200~one\x1b[201~\r\x1b[200~two\x1b[201~k"],
    ["jc", "pasted: one", "\r", "pasted: two", "k"],
  ],
  ["a paste whose mark is cut after its second byte", ["\x1b[", "200~y\x1b[201~"], ["pasted: y"]],
  ["the Esc key at once", ["\x1b", "j"], ["\x1b", "j"]],
  ["a key in pieces", ["\x1b[", "A", "\x1b[2", "~", "\x1b[13;", "2u"], ["\x1b[A", "\x1b[2~", "\n"]],
  ["a mouse event in pieces", ["\x1b[<64;3", ";4M"], ["\x1b[<64;3;4M"]],
  [
    "mouse events and keys of one piece apart",
    ["\x1b[<64;3;4M\x1b[<64;3;4Mjk\x1b[<0;3;4m"],
    ["\x1b[<64;3;4M", "\x1b[<64;3;4M", "jk", "\x1b[<0;3;4m"],
  ],
  ["Alt+Enter as a key that adds a line", ["a\x1b\rb"], ["a\nb"]],
])("KeyInput › reads %s", (_, pieces, expected) => {
  const input = new KeyInput(new PassThrough() as unknown as NodeJS.ReadStream);
  const read: string[] = [];
  input.on("data", (keys: Buffer) => void read.push(String(keys)));
  input.pasted = (text) => void read.push(`pasted: ${text}`);
  for (const piece of pieces) input.write(piece);
  expect(read).toEqual(expected);
});
