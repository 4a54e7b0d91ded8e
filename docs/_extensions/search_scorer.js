// Which pages a search lists first: those whose title or other words (`page_words.js`, made by `other_words`)
// have the words of the query, and among equals pages for users. Sphinx's own order is that of the alphabet.

/** Points for a word of the query, by where a page has it. */
const WORD_POINTS = { title: 20, other: 16, heading: 8, text: 1 };
/** Points for a place of the site: the first that a page's name begins with. */
const PLACE_POINTS = [
  ["how-to/", 7],
  ["install", 6],
  ["tutorial", 6],
  ["first-ten-minutes/", 4],
  ["reference/calculators/", 5],
  ["reference/api/", -2],
  ["reference/", 4],
  ["concepts/", 5],
  ["gallery", 6],
  ["faq", 3],
  ["glossary", 3],
  ["packs", 2],
  ["mediapipe", 2],
  ["index", 1],
  ["decisions/", -14],
  ["", -8],
];

const placePoints = (page) => PLACE_POINTS.find(([begins]) => page.startsWith(begins))[1];

const asked = { query: null, words: [] };

/** The stems of a text, without words such as "the". */
const stemsOf = (text) => {
  const stemmer = new Stemmer();
  return splitQuery(text.toLowerCase())
    .filter((word) => !stopwords.has(word))
    .map((word) => stemmer.stemWord(word));
};

const askedWords = () => {
  const query = new URLSearchParams(window.location.search).get("q") || "";
  if (asked.query !== query) {
    asked.query = query;
    asked.words = [...new Set(stemsOf(query))];
  }
  return asked.words;
};

const hasPage = (terms, word, page) => {
  const pages = Object.hasOwn(terms, word) ? terms[word] : [];
  return (Array.isArray(pages) ? pages : [pages]).some((one) => Search._index.docnames[one] === page);
};

const wordPoints = (word, page, titleStems) => {
  if (titleStems.includes(word)) return WORD_POINTS.title;
  if (((window.pageWords || {})[page] || []).includes(word)) return WORD_POINTS.other;
  return hasPage(Search._index.titleterms, word, page) ? WORD_POINTS.heading : WORD_POINTS.text;
};

var Scorer = {
  score: ([page, title, , , score, , kind]) => {
    const place = placePoints(page);
    if (kind !== "text") return score + place;
    const titleStems = stemsOf(title);
    const points = askedWords().map((word) => wordPoints(word, page, titleStems));
    return points.reduce((sum, one) => sum + one, 0) + place;
  },
  objNameMatch: 11,
  objPartialMatch: 3,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
