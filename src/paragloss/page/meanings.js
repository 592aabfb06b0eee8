// Meanings of many texts, asked for a few at a time; one that can't be had leaves the others alone.
import { send } from "./api.js";

// Characters in one request, well below what the server takes.
const TOGETHER = 8000;

// `jobs`: {text, lang, done(gloss), failed()}, for a reader's language and what was asked.
export async function meanings(jobs, { reader, asked, collection, signal }) {
  const batches = [];
  let size = Infinity;
  for (const job of jobs) {
    if (size + job.text.length > TOGETHER) [size] = [0, batches.push([])];
    batches.at(-1).push(job);
    size += job.text.length;
  }
  const some = async (batch) => {
    try {
      const texts = batch.map(({ text, lang }) => ({ text, lang }));
      const { glosses } = await send("POST", "gloss", { texts, to: reader, asked }, { collection }, signal);
      batch.forEach((job, place) => job.done(glosses[place]));
    } catch (error) {
      if (error.name === "AbortError") return;
      if (batch.length === 1) batch[0].failed();
      else for (const job of batch) await some([job]);
    }
  };
  await Promise.all(batches.map(some));
}
