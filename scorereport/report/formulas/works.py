"""Works of the literature that methods rest on and no kernel names, and our own study."""

BATES_2024 = "Bates, Hastie, Tibshirani (2024), J. Am. Stat. Assoc. 119, doi:10.1080/01621459.2023.2197686"
ALTMAN_BLAND_1994 = "Altman, Bland (1994), BMJ 309, doi:10.1136/bmj.309.6947.102"
VERGOUWE_2005 = "Vergouwe et al. (2005), J. Clin. Epidemiol. 58, doi:10.1016/j.jclinepi.2004.06.017"
COLLINS_2024 = "Collins et al. (2024), TRIPOD+AI, BMJ 385, doi:10.1136/bmj-2023-078378"
COVERAGE_STUDY = "coverage study of this software, docs/coverage.md"
DIMITRIADIS_2023 = (
    "Dimitriadis, Duembgen, Henzi, Puke, Ziegel (2023), Biometrika 110, doi:10.1093/biomet/asac068"
)
EFRON_1987 = "Efron (1987), J. Am. Stat. Assoc. 82, doi:10.1080/01621459.1987.10478410"
HIGGINS_2002 = "Higgins, Thompson (2002), Stat. Med. 21, doi:10.1002/sim.1186"
HOLM_1979 = "Holm (1979), Scand. J. Stat. 6, 65–70"
MONTIEL_OLEA_2019 = "Montiel Olea, Plagborg-Møller (2019), J. Appl. Econom. 34, doi:10.1002/jae.2656"
NEWCOMBE_2006 = "Newcombe (2006), Stat. Med. 25, doi:10.1002/sim.2324"
SNELL_2021 = "Snell et al. (2021), J. Clin. Epidemiol. 135, doi:10.1016/j.jclinepi.2021.02.011"
STONE_1974 = "Stone (1974), J. R. Stat. Soc. B 36, doi:10.1111/j.2517-6161.1974.tb00994.x"
WILSON_1927 = "Wilson (1927), J. Am. Stat. Assoc. 22, doi:10.1080/01621459.1927.10502953"
YOUDEN_1950 = "Youden (1950), Cancer 3, doi:10.1002/1097-0142(1950)3:1<32::AID-CNCR2820030106>3.0.CO;2-3"
