"""Function words, by which passages in other languages are recognised.

They have two letters or more, because misread texts are full of single letters.
"""

from __future__ import annotations

from typing import Final

_LISTS: Final = """
# English
the of and to in is that for it was on are as with be at this have from or by not but an
they which you were his has had their been there would who will her can what all when
# German
der die und den von das mit des im ist nicht ein eine auch für auf dem sich als dass es aus
einer einen werden bei oder wird nach einem noch wie zum zur nur über sie er ich sind haben
# Dutch
de het een van en dat op te voor met zijn niet aan ook als er maar om door naar bij wordt uit
nog deze heeft hij werd worden geen dan hebben wel meer kan over tot moet ze
# Swedish, Danish, Norwegian
och att det som på är av för med den till ett inte har kan från de om jag var men så eller
og af ikke til der på er fra vi blev skal også efter jeg etter ved være ble men blir hvis
# French
le la les des du et un une est que qui dans pour pas sur au par plus ce avec sont il elle ne
se son ses aux mais cette ou nous vous été être comme leur sans même ces dont ont tout
# Spanish, Catalan
el los las del al en con una por para que como su sus lo más no pero este esta entre sin
sobre ser también fue hasta donde desde muy ya ha son hay amb els per una dels més ser aquest
# Portuguese
os as do da dos das em um uma não com para ao na no nos nas mais foi pela pelo também são
ou mas sua seu como quando muito isso entre está tem
# Italian
il lo gli di che del della dei delle nel nella con non si da per una sono alla al anche
come più dal le ha ma questo questa suo sua degli tra dalla ed stato essere
# Romanian
și în de la cu pe nu care sunt din că este mai pentru fost ce au sau prin după dar lui
# Polish, Czech
na się nie do to że jest jak po od za przez dla ale są oraz tym ich który tego
se je že ve pro ale jako by jsou už které tak nebo jeho podle také bylo
# Finnish, Hungarian, Turkish, Indonesian
ja on ei se että oli myös kun mutta ovat hän kuin sen joka tai vain ole mukaan
az és hogy nem is egy meg ez van már volt csak de el még mint szerint vagy
ve bir bu için ile da çok olarak olan daha gibi sonra kadar ne ama en her
yang dan di untuk dengan ini dari itu pada tidak dalam akan juga adalah oleh ke ada telah
# Russian, Ukrainian, Bulgarian, Greek
не на что он как это по но они все так его из за от для же мы при или был до их им них ей ему
на се да са ще що як він це які але був та від про και το να του για με των από στο την της
"""
FUNCTION_WORDS: Final = frozenset(
    word for line in _LISTS.splitlines() if line[:1] != "#" for word in line.split()
)
